package closedloop

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
)

// landing is a flight of the law to the floor of a world.
func landing(t *testing.T, w sim.World, seed uint64) *Trace {
	t.Helper()
	s, r := setup(t, new(reference.Landing), w, 10)
	s.Filtered = true
	start, path, err := DrawLanding(r, &w, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s.Start, s.Path, s.Lands, s.Seed = start, path, true, seed
	trace, err := Fly(s, law(t, s, path))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// TestLanding: on floors that rest and that move, in wind: the flight ends where the robot stands, and not before it
// touched the floor. There commands no longer tell how it moves; a guard knows no other floor than that at 0 m.
func TestLanding(t *testing.T) {
	for name, change := range map[string]func(*sim.World){
		"calm": func(*sim.World) {},
		"wind": func(w *sim.World) {
			w.Conditions = sim.Conditions{Name: []string{"wind"}, WindX: []float64{0.7}, WindY: []float64{0}}
		},
		"a pad that moves": func(w *sim.World) { w.Ground.Velocity = []float64{0.3, 0} },
		"a high floor":     func(w *sim.World) { w.Ground.Height = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			w := sim.Default()
			change(&w)
			for seed := range uint64(5) {
				trace := landing(t, w, seed)
				n := len(trace.Rows)
				if why := trace.Missed(Landing); why != "" {
					t.Errorf("%s: %+v after %.2f s", why, trace.Touchdown, trace.Rows[n-1].T)
				}
				if off := offOnTheFloor(trace); w.Ground.Height == 0 && off > 0.008 {
					t.Errorf("on the floor the position is off by %.1f mm", 1000*off)
				}
				if end := trace.Rows[n-1].T; !(end > trace.Touchdown.Time) || end > 9 {
					t.Errorf("touched down at %.2f s, the flight ended at %.2f s", trace.Touchdown.Time, end)
				}
			}
		})
	}
}

// offOnTheFloor is the most that an estimate is off after a touch-down, m.
func offOnTheFloor(t *Trace) (most float64) {
	for _, r := range t.Rows {
		if t.Touchdown.Touched && r.T > t.Touchdown.Time {
			most = max(most, r.Estimate.P.Sub(r.Truth.P).Norm())
		}
	}
	return most
}

func TestLandingIsMissed(t *testing.T) {
	good := func() *Trace {
		tr := &Trace{Stands: true, Touchdown: sim.Touchdown{Touched: true, Down: 0.3}}
		tr.Rows = append(tr.Rows, TraceRow{T: 5})
		tr.Rows[0].Truth.Q = so3.Identity()
		return tr
	}
	for want, spoil := range map[string]func(*Trace){
		"":                       func(*Trace) {},
		"hit the ground":         func(tr *Trace) { tr.Crash = "hit the ground" },
		"did not come to stand":  func(tr *Trace) { tr.Stands = false },
		"stopped in the air":     func(tr *Trace) { tr.Touchdown = sim.Touchdown{} },
		"stands 0.140 m off":     func(tr *Trace) { tr.Rows[0].Truth.P.X = 0.14 },
		"down at 0.60 m/s":       func(tr *Trace) { tr.Touchdown.Down = 0.6 },
		"tilted by 0.30 rad":     func(tr *Trace) { tr.Rows[0].Truth.Q = so3.Exp(so3.Vec3{X: 0.3}) },
		"bounced by 0.020 m":     func(tr *Trace) { tr.Touchdown.Bounce = 0.02 },
		"stands NaN m off":       func(tr *Trace) { tr.Rows[0].Truth.P.X = math.NaN() },
		"it did not come to sta": func(tr *Trace) { tr.Rows = nil },
	} {
		t.Run(want, func(t *testing.T) {
			tr := good()
			spoil(tr)
			if why := tr.Missed(Landing); !strings.Contains(why, want) || want == "" && why != "" {
				t.Errorf("missed %q, want %q", why, want)
			}
		})
	}
	far := good()
	far.Rows[0].Truth.P.X = 0.3
	f, l := MeasureLandings([]*Trace{good(), far})
	if l.Flights != 2 || l.Landed != 1 || len(l.Missed) != 1 || math.Abs(f.Mean-0.15) > 1e-12 || f.Max != 0.3 ||
		l.Down != 0.3 {
		t.Errorf("%+v, %+v", f, l)
	}
}
