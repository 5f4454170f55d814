package armlog

import (
	"fmt"
	"math"
	"strings"

	"vnd/pkg/robot/arm"
)

const (
	slack = 0.2  // rad, beyond a joint's limits
	moved = 0.02 // rad within a piece, of a joint whose rate is compared with its angle
	wild  = 10   // times a joint's speed, what none turns at
)

// limit cuts torques to what joints have, as a drive does, and returns 1 where it cut any.
func (c *commanded) limit(links []arm.Link) (cut int) {
	for j, l := range links {
		if x := min(max(c.Torque[j], -l.Torque), l.Torque); x != c.Torque[j] {
			c.Torque[j], cut = x, 1
		}
	}
	return cut
}

// plausible refuses what no Panda measures or takes.
func (r *reading) plausible() error {
	for j, name := range r.Joints {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range r.samples {
			q := r.samples[i].Q[j]
			lo, hi = min(lo, q), max(hi, q)
		}
		l := &r.links[j]
		if lo < l.Min-slack || hi > l.Max+slack {
			return fmt.Errorf("topic %s: joint %q is between %.3g and %.3g, expected %.3g to %.3g rad", r.States, name,
				lo, hi, l.Min, l.Max)
		}
		if share := r.turned(j); !(share > 0.5 && share < 2) {
			return fmt.Errorf("topic %s: by its velocity joint %q turns %.2g times as far as by its position, "+
				"expected rad and rad/s", r.States, name, share)
		}
	}
	switch {
	case 2*r.cut > len(r.commands):
		return fmt.Errorf("topic %s: %d of %d commands are beyond what joints have, expected N·m", r.Commands, r.cut,
			len(r.commands))
	case r.cut > 0:
		r.warn(r.Commands, "%d of %d commands are cut to the torques that joints have", r.cut, len(r.commands))
	}
	return nil
}

// turned is how far joint j turns by its rate, as a share of how far by its angle, by least squares over pieces in
// which it moves; 1 where it never does.
func (r *reading) turned(j int) float64 {
	var both, square, d, w, seconds float64
	for i := range r.samples {
		going := i > 0 && r.follows(i)
		if going {
			a, b := &r.samples[i-1], &r.samples[i]
			h := float64(b.stamp-a.stamp) / 1e9
			d, w, seconds = d+b.Q[j]-a.Q[j], w+h*(a.V[j]+b.V[j])/2, seconds+h
		}
		if last := i+1 == len(r.samples); last || !going || seconds > pieceRows*r.Delta {
			if math.Abs(d) > moved {
				both, square = both+w*d, square+d*d
			}
			d, w, seconds = 0, 0, 0
		}
	}
	if square == 0 {
		return 1
	}
	return both / square
}

// explain warns of what keeps rows from being made and is no pause.
func (r *reading) explain() {
	back, jumps := 0, 0
	for i := 1; i < len(r.samples); i++ {
		if r.samples[i].stamp < r.samples[i-1].stamp {
			back++
		} else if r.follows(i) && r.jumps(i) {
			jumps++
		}
	}
	if jumps > 0 {
		r.warn(r.States, "%d times a joint jumps further than it can turn, expected one publisher and no glitch", jumps)
	}
	if back > 0 {
		r.warn(r.States, "%d of %d stamps are before the one that came before, expected one publisher", back,
			len(r.samples))
	}
	if r.adrift > 0 {
		r.warn(r.States, "%d rows are not used: times of recording do not pass as stamps do there, expected within %g "+
			"ms; simulated time is to be recorded with use_sim_time", r.adrift, 1000*drift*r.Delta)
	}
}

// none is the error of a bag without rows, which no warnings follow.
func (r *reading) none() error { return fmt.Errorf("bag %s: %s", r.path, r.nothing()) }

// nothing says why there are no rows.
func (r *reading) nothing() string {
	s, c := r.samples, r.commands
	over := func(from, to int64) float64 { return float64(to-from) / 1e9 }
	why := ""
	for _, w := range r.warnings {
		why += "; " + strings.TrimPrefix(w.String(), r.path+": ")
	}
	return fmt.Sprintf("no %d rows of %g s in a row with both joint states and commands: %d joint states "+
		"are over %.3g s, %d commands over %.3g s, expected at most %g and %g s apart%s", r.Window+1, r.Delta,
		len(s), over(s[0].stamp, s[len(s)-1].stamp), len(c), over(c[0].recorded, c[len(c)-1].recorded),
		longestGap*r.Delta, longestHold, why)
}
