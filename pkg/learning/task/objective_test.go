package task

import (
	"testing"

	"vnd/pkg/core/param"
)

func TestOnlyTheStiffCostIsSharperWhereAPolicyIsImproved(t *testing.T) {
	for _, c := range []struct {
		cost, task string
		sharper    float64
	}{{StiffCost, Hover, sharpness}, {StiffCost, Track, sharpness}, {StiffCost, Features, 1}, {PaperCost, Hover, 1},
		{"custom", Track, 1}} {
		t.Run(c.cost+" "+c.task, func(t *testing.T) {
			var o Objective
			param.Default(&o)
			o.Cost = c.cost
			k, err := o.New(c.task, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := Improving([]*Task{k})[0]
			if got := k.Cost.Delta / r.Cost.Delta; got != c.sharper {
				t.Errorf("δ is %g times smaller, want %g", got, c.sharper)
			}
			if again := Improving([]*Task{r})[0]; again.Cost != r.Cost || k.Cost.Delta < r.Cost.Delta {
				t.Error("a task is sharpened twice, or where it is")
			}
		})
	}
}
