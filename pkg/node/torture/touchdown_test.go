package torture

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"vnd/pkg/core/so3"
)

// touchdowns are speeds at which the robot met the ground.
type touchdowns struct {
	mu      sync.Mutex
	above   bool
	carried bool     // by hand, which is no touch-down
	before  so3.Vec3 // velocity at the last truth, m/s
	n       int
	fastest float64
	hard    []string // in words, since they were read last
}

// hardest is the greatest speed of a touch-down that is no accident, m/s, as the campaign has it.
const hardest = 1.0

// look takes a state of the truth.
func (d *touchdowns) look(above bool, v so3.Vec3, lately func() string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.above && !above && !d.carried {
		d.n++
		speed := d.before.Norm()
		if d.fastest = max(d.fastest, speed); speed > hardest {
			d.hard = append(d.hard, fmt.Sprintf("the robot touched down at %.2f m/s, %.2f m/s of it downwards; %s",
				speed, -d.before.Z, lately()))
		}
	}
	d.above, d.before = above, v
}

// carry says that the robot is carried from now on, or no longer.
func (d *touchdowns) carry(by bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.carried = by
}

// read are the hard ones since they were read last.
func (d *touchdowns) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	hard := d.hard
	d.hard = nil
	return hard
}

// lately says who flew in the last steps, and when.
func (e *endurance) lately() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	now := time.Now()
	for i, s := range e.steps {
		if i == 0 || i == len(e.steps)-1 || s.stage != e.steps[i-1].stage {
			fmt.Fprintf(&b, "%v since %.2f s (%.2f m), ", s.stage, now.Sub(s.at).Seconds(), s.height)
		}
	}
	return b.String()
}
