package control

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/reference"
)

// TaskReference is a task and the reference that it follows, from the tick on at which it is taken up. It belongs to
// one Loop.
type TaskReference struct {
	Task string
	Path reference.Reference

	Blended bool // the path is a recorded one, with its transition blends

	at        func(t float64) quad.Reference // t on the loop's clock, s
	unblended func(t float64) quad.Reference // the same without the transition blend
	start     float64                        // NaN before the first tick
	blend     blend
	resume    resumption
}

// resumption is how a task goes on after a halt: from a place on its path, slowly at first, so that what leads back is
// the path and no short cut. The path is behind its time by the halt then.
type resumption struct {
	since float64 // s on the loop's clock; NaN while the task waits
	phase float64 // of the path at that time, s
	over  bool    // there is none, or it is at full speed
}

// resumeTime is how long a task takes to its full speed, s.
const resumeTime = 2.0

// at is the phase of the path at a time, and how fast it runs: at full speed after resumeTime.
func (r *resumption) at(t float64) (phase, rate, accel float64) {
	if math.IsNaN(r.since) || t <= r.since {
		return r.phase, 0, 0
	}
	const T = resumeTime
	x := min((t-r.since)/T, 1)
	rate, accel, _ = reference.SmoothStep(x)
	sum := x * x * x * x * (2.5 + x*(x-3)) // of the smooth step 10x³ − 15x⁴ + 6x⁵
	return r.phase + T*sum + max(t-r.since-T, 0), rate, accel / T
}

// along is the path's reference at a phase, as fast as it runs there.
func (c *TaskReference) along(phase, rate, accel float64) quad.Reference {
	r := c.Path.At(phase)
	r.A = r.A.Scale(rate * rate).Add(r.V.Scale(accel))
	r.V, r.YawRate = r.V.Scale(rate), r.YawRate*rate
	return r
}

// halt has the path wait where it is nearest to a place; t is the present time.
func (c *TaskReference) halt(p so3.Vec3, t float64) {
	phase := t - c.start
	if !c.resume.over {
		phase, _, _ = c.resume.at(t)
	}
	best, least := phase, math.Inf(1)
	for i := range haltSamples {
		at := max(phase+haltSpan*(float64(i)/(haltSamples-1)-0.5), 0)
		if off := c.Path.At(at).P.Sub(p).Norm(); off < least {
			best, least = at, off
		}
	}
	c.resume = resumption{since: math.NaN(), phase: best}
}

// Of the search for the nearest place: so many, on so much of the path, s.
const (
	haltSamples = 33
	haltSpan    = 1.6
)

// goOn has a path that waits go on from a time on.
func (c *TaskReference) goOn(t float64) {
	switch r := &c.resume; {
	case r.over:
	case math.IsNaN(r.since):
		r.since = t
	case t-r.since >= resumeTime:
		phase, _, _ := r.at(t)
		c.start, r.over = t-phase, true
	}
}

// ended reports whether a path is at its end, and neither waits nor blends in.
func (c *TaskReference) ended(t float64) bool {
	d := c.Path.Duration()
	return d > 0 && t-c.start >= d && c.resume.over && c.blend.from == nil
}

// featuresTask is the task whose policies fly by landmarks.
const featuresTask = "features"

// NewTaskReference follows a path; nil is the task's own.
func NewTaskReference(task string, path reference.Reference) (*TaskReference, error) {
	if path == nil {
		var err error
		if path, err = reference.OfTask(task); err != nil {
			return nil, err
		}
	}
	if _, still := path.Spec().(*reference.Hover); task == featuresTask && !still {
		return nil, fmt.Errorf("task %q: expected a reference of kind hover, which says where the landmarks have the "+
			"robot hover", task)
	}
	c := &TaskReference{Task: task, Path: path, start: math.NaN(), resume: resumption{over: true}}
	c.unblended = func(t float64) quad.Reference {
		if c.resume.over {
			return c.Path.At(t - c.start)
		}
		return c.along(c.resume.at(t))
	}
	c.at = func(t float64) quad.Reference { return c.blend.at(t, c.unblended(t)) }
	return c, nil
}
