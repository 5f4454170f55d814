package publictable

import (
	"math"
	"testing"

	"vnd/pkg/learning/rotorfit"
	"vnd/pkg/robot/rotors"
)

// tumbling predicts what is wrong in every channel: the attitude turns on at 5 rad/s about x, with signs that change.
func tumbling(p *Protocol, flights []*rotors.Flight) []*rotorfit.Predictions {
	all := p.Naive(flights, true)
	for _, q := range all {
		for _, states := range q.States {
			for h := range states {
				x := &states[h]
				half := .5 * 5 * .01 * float64(h+1)
				w, i, j, k := x[3], x[4], x[5], x[6]
				c, s := math.Cos(half), math.Sin(half)
				x[3], x[4], x[5], x[6] = w*c-i*s, w*s+i*c, j*c+k*s, k*c-j*s
				if h%3 == 2 {
					*x = negated(*x)
				}
				x[8] += .01 * float64(h)
				x[12] -= .02 * float64(h)
			}
		}
		q.Round()
	}
	return all
}

// near allows for predictions whose last digit is rounded the other way, as on arm64, where products are rounded once.
func near(t *testing.T, got, want [4]float64) {
	t.Helper()
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-8*(1+want[i]) {
			t.Errorf("%s: %.10g, want %.10g", rotorfit.Names[i], got[i], want[i])
		}
	}
}

// TestScoresEqualThoseOfTheScripts has the figures that eval_idsia.py and eval_nanobench.py print for the predictions
// of tumbling: at h = 1, 10, 50 (NanoBench: 10, 50, 100) and Σ 1…50.
func TestScoresEqualThoseOfTheScripts(t *testing.T) {
	read := func(dir string) []*rotors.Flight {
		flights, err := rotorfit.ReadAll([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		return flights
	}
	made, part := read("testdata/idsia/flights/test"), read("testdata/nanobench/flights")
	idsia, nano := IDSIA(false), NanoBench("helix")
	f, g := idsia.Score(tumbling(idsia, made)), nano.Score(tumbling(nano, part))
	for _, c := range []struct {
		name  string
		got   Curve
		steps [3]int
		want  [4][4]float64 // at the steps, and the sum
	}{
		{"as published", f.Published, [3]int{1, 10, 50}, idsiaPublished},
		{"within flights", f.Within, [3]int{1, 10, 50}, idsiaWithin},
		{"nanobench", g.Within, [3]int{10, 50, 100}, nanoWithin},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, h := range c.steps {
				near(t, c.got[h-1], c.want[i])
			}
			near(t, c.got.Sum(50), c.want[3])
		})
	}
	for i, want := range nanoRMS {
		if math.Abs(g.RMS[i]-want) > 1e-9 {
			t.Errorf("RMS of the position: %.10g, want %.10g", g.RMS[i], want)
		}
	}
}

// What the scripts print for them.
var (
	idsiaPublished = [4][4]float64{
		{0.00016557064657744773, 0.03304368209147562, 0.041407319318179286, 0.041436580317447354},
		{0.08771958695051163, 0.5293434070366525, 0.45391523169659276, 0.5224189772802824},
		{0.7097846425324011, 1.155248240645475, 1.4197935104617565, 2.31133260403443},
		{16.978078086198604, 46.30461219667973, 44.22500660784072, 62.33544706958362},
	}
	idsiaWithin = [4][4]float64{
		{0.00016557064657744775, 0.033043682091475624, 0.04140731931817931, 0.041436580317447354},
		{0.015942359342383205, 0.39947019762397146, 0.4170202917562538, 0.344455068302861},
		{0.3124177188350612, 1.463070529844137, 2.0747723898776895, 1.657680817413073},
		{5.84128051404968, 43.38706806761059, 53.41264481922165, 42.8766794970757},
	}
	nanoWithin = [4][4]float64{
		{0.0040343820263121395, 0.11856507795993203, 0.5066631167601094, 0.4561659625669215},
		{0.10401266155593437, 0.6133831742962508, 2.5233205621197285, 1.273686462321081},
		{0.427657606862174, 1.10799885815215, 1.2652784195227207, 2.137279996442886},
		{1.7630251973799547, 15.485480651508302, 64.41996983282999, 38.419785981503026},
	}
	nanoRMS = [2]float64{0.1238394535282212, 0.4676630064467038}
)
