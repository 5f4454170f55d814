package manipulation

import (
	"testing"

	"vnd/pkg/learning/armlearning"
)

// BenchmarkFit is a fit of 50,000 rows, as of the examples: eleven payloads along six paths.
func BenchmarkFit(b *testing.B) {
	const rows = 50_000
	c := SmallBudget()
	c.Seconds = 15.16
	references, err := c.References()
	if err != nil {
		b.Fatal(err)
	}
	base, err := c.base(b.Context(), armlearning.Task(armlearning.Spread, references...))
	if err != nil {
		b.Fatal(err)
	}
	all, _ := c.record(base, references)
	n, d := 0, armlearning.Prior.System().Dims()
	for i := range all {
		r := &all[i]
		length := min(len(r.Weight), rows-n)
		r.Weight, r.Measured, r.Actions = r.Weight[:length], r.Measured[:length*d.Measured], r.Actions[:length*d.Action]
		n += length
	}
	if n != rows {
		b.Fatalf("%d rows, expected %d", n, rows)
	}
	for b.Loop() {
		if _, err := c.fit(b.Context(), all); err != nil {
			b.Fatal(err)
		}
	}
}
