package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// Odometry is what visual odometry errs by, beside noise and delay: it drifts, takes distances for longer than they
// are, and jumps where it sees again what it saw before.
type Odometry struct {
	Drift    float64 `param:"drift" default:"0" min:"0" max:"1" unit:"m/√s" doc:"random walk of each coordinate"`
	YawDrift float64 `param:"yaw_drift" default:"0" min:"0" max:"1" unit:"rad/√s" doc:"random walk of the heading"`
	Scale    float64 `param:"scale" default:"0" min:"-0.5" max:"0.5" doc:"share by which distances from the start are too long"`
	Closures float64 `param:"closure_every" default:"0" min:"0" max:"1e6" unit:"s" doc:"mean time between loop closures (exponential), which jump and take the heading's drift back; 0 is none"`
	Least    float64 `param:"closure_least" default:"0.05" min:"0" max:"10" unit:"m" doc:"shortest jump of a loop closure"`
	Most     float64 `param:"closure_most" default:"0.2" min:"0" max:"10" unit:"m" doc:"longest jump of a loop closure"`
}

// odometry is the state of the drift.
type odometry struct {
	Odometry
	walk, closes stream
	begun        bool
	origin       so3.Vec3 // where it began, m
	drift        so3.Vec3 // m
	yaw          float64  // rad
	next         float64  // closure, s
}

func (o *odometry) reset(p *Odometry, seed uint64) {
	*o = odometry{Odometry: *p, walk: o.walk, closes: o.closes}
	o.walk.seed(seed, "odometry drift")
	o.closes.seed(seed, "odometry closures")
	o.next = math.Inf(1)
	if o.Closures > 0 {
		o.next = o.Closures * o.closes.ExpFloat64()
	}
}

// spoil makes a sample of a time, dt seconds after the one before, what odometry makes of it.
func (o *odometry) spoil(at, dt float64, s *Sample) {
	if o.Odometry == (Odometry{Least: o.Least, Most: o.Most}) {
		return
	}
	if !o.begun {
		o.begun, o.origin = true, s.P
	}
	o.drift = o.drift.Add(o.walk.normal().Scale(o.Drift * math.Sqrt(dt)))
	o.yaw += o.YawDrift * math.Sqrt(dt) * o.walk.NormFloat64()
	for at >= o.next {
		o.close()
		o.next += o.Closures * o.closes.ExpFloat64()
	}
	turn := so3.FromEuler(0, 0, o.yaw)
	s.P = o.origin.Add(turn.Rotate(s.P.Sub(o.origin).Scale(1 + o.Scale))).Add(o.drift)
	s.Q = turn.Mul(s.Q)
}

// close jumps: back by the drift where that is longer than the jump, else anywhere.
func (o *odometry) close() {
	length := o.Least + (o.Most-o.Least)*o.closes.Float64()
	way := o.closes.direction()
	if n := o.drift.Norm(); n > length {
		way = o.drift.Scale(-1 / n)
	}
	o.drift, o.yaw = o.drift.Add(way.Scale(length)), 0
}
