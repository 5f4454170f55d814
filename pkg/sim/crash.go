package sim

import (
	"fmt"

	"vnd/pkg/core/so3"
)

// end is why a flight is over.
type end uint8

const (
	flying end = iota
	hard       // touched the ground too fast
	tipped     // a rotor touched the ground
	lost       // the numbers are no numbers
	silent     // what is external ended
)

// crash is the end of a flight.
type crash struct {
	why   end
	at    float64 // s
	speed float64 // downwards, m/s
	cause error   // of what is silent
}

// look judges the step from before to the present body.
func (c *crash) look(s *Simulator, before *body) {
	b := &s.body
	if !b.p.Add(b.v).Add(b.w).Add(b.load.p).Add(b.load.v).Finite() || !b.q.Finite() {
		s.body = *before
		s.body.v, s.body.w, s.body.rotor = so3.Vec3{}, so3.Vec3{}, [4]float64{}
		s.cable = cable{}
		c.set(lost, s.Time(), 0)
		return
	}
	g := &s.ground
	if !g.near(b) {
		return
	}
	for i, at := range g.at {
		if b.p.Z+b.q.Rotate(at).Z > g.Height {
			continue
		}
		down := -before.v.Add(before.q.Rotate(before.w.Cross(at))).Z
		switch {
		case i >= 4:
			c.set(tipped, s.Time(), down)
		case !g.stuck[i] && down > g.Impact:
			c.set(hard, s.Time(), down)
		}
	}
}

// set keeps the first end.
func (c *crash) set(why end, at, speed float64) {
	if c.why == flying {
		*c = crash{why: why, at: at, speed: speed}
	}
}

func (c *crash) String() string {
	switch c.why {
	case hard:
		return fmt.Sprintf("hit the ground at %.1f m/s after %.2f s", c.speed, c.at)
	case tipped:
		return fmt.Sprintf("a rotor hit the ground after %.2f s", c.at)
	case lost:
		return fmt.Sprintf("the motion left the numbers after %.2f s", c.at)
	case silent:
		return fmt.Sprintf("the software that flies it stopped after %.2f s: %v", c.at, c.cause)
	}
	return ""
}
