package effects

import "testing"

func TestVote(t *testing.T) {
	cluster := func(at float64, n int) (z [][]float64) {
		for i := range n {
			z = append(z, []float64{at + 0.01*float64(i), 0})
		}
		return z
	}
	known := [][][]float64{cluster(0, 20), cluster(5, 20)}
	if share, n := Vote(known, [][][]float64{cluster(0.5, 4), cluster(4.5, 4)}, 15); share != 1 || n != 8 {
		t.Errorf("%.2f of %d", share, n)
	}
	if share, _ := Vote(known, [][][]float64{cluster(5, 4), cluster(4.5, 4)}, 15); share != 0.5 {
		t.Errorf("%.2f where half are of another wind", share)
	}
	for name, known := range map[string][][][]float64{"nothing is known": {nil, nil},
		"the other wind alone is known": {nil, cluster(5, 20)}} {
		if share, n := Vote(known, [][][]float64{cluster(0.5, 4), nil}, 15); share != 0 || n != 4 {
			t.Errorf("where %s %.2f of %d are right", name, share, n)
		}
	}
	if share, n := Vote(known, [][][]float64{nil, nil}, 15); share != 0 || n != 0 {
		t.Errorf("%.2f of %d without windows", share, n)
	}
}
