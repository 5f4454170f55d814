package closedloop

import (
	"math"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
)

// seeing is the guard's law as a controller that notes what it sees.
type seeing struct {
	guard.PathFollower
	asked, observed []float64 // s
	worst           float64   // by which a state's velocity is off, m/s
	truth           sim.Truth
}

func (c *seeing) Inform(t sim.Truth) { c.truth = t }
func (c *seeing) Observe(r quad.Row) { c.observed = append(c.observed, r.T) }
func (c *seeing) Command(t float64, s *quad.State) quad.Command {
	c.asked, c.worst = append(c.asked, t), max(c.worst, s.V.Sub(c.truth.State.V).Norm())
	return c.PathFollower.Command(t, s)
}

// TestNoStateForAWhile: a controller gets states that are carried on while none comes, and none older than the guard
// allows; none of them is observed. Where states always come it gets those as they are.
func TestNoStateForAWhile(t *testing.T) {
	fly := func(o sim.Outage) (*seeing, *Trace) {
		path, err := reference.OfTask("track")
		if err != nil {
			t.Fatal(err)
		}
		s := &Setup{World: sim.Default(), Seed: 1, Path: path, Seconds: 20, Tick: 0.02}
		param.Default(&s.Estimate)
		param.Default(&s.Limits)
		s.World.Mocap.Dropout = o
		law, err := guard.NewPathFollower(s.Limits, path)
		if err != nil {
			t.Fatal(err)
		}
		c := &seeing{PathFollower: law}
		trace, err := Fly(s, c)
		if err != nil || trace.Crash != "" {
			t.Fatalf("%+v: %v %s", o, err, trace.Crash)
		}
		return c, trace
	}
	clean, _ := fly(sim.Outage{Length: 0.1})
	holed, trace := fly(sim.Outage{Every: 1, Length: 0.15})
	for i := range holed.asked[1:] {
		if step := holed.asked[i+1] - holed.asked[i]; step <= 0 {
			t.Errorf("after a state of %.3f s comes one of %.3f s", holed.asked[i], holed.asked[i]+step)
		}
	}
	if len(clean.asked) != len(clean.observed) {
		t.Errorf("%d states asked for, %d observed, though all came", len(clean.asked), len(clean.observed))
	}
	law := len(trace.Rows) - len(holed.asked)
	if late := len(holed.asked) - len(holed.observed); late < 20 || law < 20 {
		t.Errorf("%d states were carried on and %d too old, expected 20 and more", late, law)
	}
	if math.Max(clean.worst, holed.worst) > 1 {
		t.Errorf("velocities are off by %.2f and %.2f m/s", clean.worst, holed.worst)
	}
}

// TestNoStateInWind: a robot that hovers against a wind is not blown away while no state comes.
func TestNoStateInWind(t *testing.T) {
	g, err := newGap(quad.Limits{MaxThrust: 20, MaxTiltRate: 10, MaxYawRate: 5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const wind, dt = 3., 0.02
	tilt := math.Atan(wind / quad.Gravity)
	hover := quad.State{P: so3.Vec3{Z: 1}, Q: so3.FromEuler(0, -tilt, 0)} // thrust leans against +x
	for k := range 500 {
		now := 1 + dt*float64(k)
		if _, s, usable := g.ahead(now, now-0.01, &hover); !usable || s != hover {
			t.Fatalf("at %.2f s: %+v", now, s)
		}
		g.sent(now, quad.Command{Thrust: quad.Gravity / math.Cos(tilt)})
	}
	stamp := 1 + dt*499 - 0.01
	_, s, usable := g.ahead(stamp+0.31, stamp, &hover)
	if off := s.P.Sub(hover.P).Norm(); usable || off > 0.02 {
		t.Errorf("after 0.3 s it is believed %.3f m off (%v), expected where it hovers", off, s.P)
	}
	hold := quad.Reference{P: hover.P}
	if c := g.hold(stamp+0.3, &hover, hold); c.Rates.Norm() > 0.3 {
		t.Errorf("the law turns a robot that hovers in the wind by %v rad/s", c.Rates)
	}
	far := quad.Reference{P: hover.P.Add(so3.Vec3{Y: 0.5})}
	for k := range 40 { // and once more, when that gap is over
		g.hold(stamp+0.3+0.02*float64(k), &hover, far)
	}
	g.ahead(stamp+0.05, stamp, &hover)
	if c := g.hold(stamp+2, &hover, hold); c.Rates.Norm() > 0.3 {
		t.Errorf("after another gap the law turns it by %v rad/s", c.Rates)
	}
}
