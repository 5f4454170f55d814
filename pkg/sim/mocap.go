package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// Mocap is motion capture: poses of the body's origin at a rate, with what goes wrong on their way.
type Mocap struct {
	Rate     float64  `param:"rate" default:"200" min:"1" max:"1000" unit:"Hz" doc:"samples"`
	Position float64  `param:"position" default:"0.0003" min:"0" max:"1" unit:"m" doc:"standard deviation of the noise of each coordinate"`
	Attitude float64  `param:"attitude" default:"0.002" min:"0" max:"1" unit:"rad" doc:"standard deviation of the noise about each axis"`
	Latency  float64  `param:"latency" default:"0.005" min:"0" max:"0.5" unit:"s" doc:"time from a sample to its arrival, at least"`
	Jitter   float64  `param:"jitter" default:"0.0005" min:"0" max:"0.1" unit:"s" doc:"mean of what arrival takes beyond the latency (exponential); samples stay in order"`
	Stamp    float64  `param:"stamp" default:"0.00005" min:"0" max:"0.1" unit:"s" doc:"standard deviation of the stamps' error"`
	Clock    float64  `param:"clock" default:"0.0" min:"-1" max:"1" unit:"s" doc:"by which the clock of its stamps is ahead of the robot's"`
	Lost     float64  `param:"lost" default:"0" min:"0" max:"1" doc:"share of the samples that do not come, one by one"`
	Dropout  Outage   `param:"dropout"`
	Jump     Jump     `param:"jump"`
	Odometry Odometry `param:"odometry" doc:"what visual odometry errs by besides"`
}

// Outage is time without samples.
type Outage struct {
	Every  float64 `param:"every" default:"0" min:"0" max:"1e6" unit:"s" doc:"mean time between dropouts (exponential); 0 is none"`
	Length float64 `param:"length" default:"0.1" min:"0.001" max:"100" unit:"s" doc:"mean length of a dropout, in which no sample is taken (exponential)"`
}

// Jump is time with another pose, as from exchanged markers.
type Jump struct {
	Every    float64 `param:"every" default:"0" min:"0" max:"1e6" unit:"s" doc:"mean time between jumps (exponential); 0 is none"`
	Length   float64 `param:"length" default:"0.05" min:"0.001" max:"100" unit:"s" doc:"mean time until the pose is right again (exponential)"`
	Distance float64 `param:"distance" default:"0.3" min:"0" max:"100" unit:"m" doc:"by which the position is off, in a random direction"`
	Angle    float64 `param:"angle" default:"0.5" min:"0" max:"3.15" unit:"rad" doc:"by which the attitude is off, about a random axis"`
}

// Sample is one pose of motion capture.
type Sample struct {
	Stamp   float64  // s since the start, as the system tells it
	Arrival float64  // s, when it is there
	P       so3.Vec3 // p_W, m
	Q       so3.Quat // q_WB
}

// mocap is the state of the system and what is on its way.
type mocap struct {
	Mocap
	taken                    int64 // samples since the start, lost ones included
	arrival                  float64
	noise, delay, time, loss stream
	gone, wrong              episodes
	offset                   so3.Vec3 // of the present jump, m, world
	turn                     so3.Quat
	odometry                 odometry
	queue[Sample]
}

func (m *mocap) reset(w *World, seed uint64) {
	m.Mocap = w.Mocap
	m.taken, m.arrival = 0, 0
	m.empty()
	m.noise.seed(seed, "mocap noise")
	m.delay.seed(seed, "mocap delay")
	m.time.seed(seed, "mocap stamp")
	m.loss.seed(seed, "mocap loss")
	m.odometry.reset(&w.Mocap.Odometry, seed)
	m.gone.start(m.Dropout.Every, m.Dropout.Length, seed, "mocap dropout")
	m.wrong.start(m.Jump.Every, m.Jump.Length, seed, "mocap jump")
}

// step takes the sample that is due by now, if one is. Its time lies within the last integration step, over which
// velocity and rates are those of the step's end.
func (m *mocap) step(now float64, b *body) {
	const rounding = 1e-9 // s
	at := float64(m.taken) / m.Rate
	if at > now+rounding {
		return
	}
	m.taken++
	gone, _ := m.gone.at(at)
	wrong, fresh := m.wrong.at(at)
	if fresh {
		m.offset = m.wrong.direction().Scale(m.Jump.Distance)
		m.turn = so3.Exp(m.wrong.direction().Scale(m.Jump.Angle))
	}
	back := at - now
	s := Sample{
		Stamp: at + m.Clock + m.Stamp*m.time.NormFloat64(),
		P:     b.p.Add(b.v.Scale(back)).Add(m.noise.normal().Scale(m.Position)),
		Q:     b.q.Mul(so3.Exp(b.w.Scale(back).Add(m.noise.normal().Scale(m.Attitude)))),
	}
	// Samples arrive in order: one that is late holds up those behind it.
	m.arrival = max(m.arrival, at+m.Latency+m.Jitter*m.delay.ExpFloat64())
	s.Arrival = m.arrival
	if wrong {
		s.P, s.Q = s.P.Add(m.offset), s.Q.Mul(m.turn)
	}
	m.odometry.spoil(at, 1/m.Rate, &s)
	if lost := m.Lost > 0 && m.loss.Float64() < m.Lost; !gone && !lost {
		m.push(s)
	}
}

// take returns what has arrived by now.
func (m *mocap) take(now float64) []Sample {
	return m.pop(func(s *Sample) bool { return s.Arrival <= now })
}

// normal returns three independent standard normal numbers.
func (s *stream) normal() so3.Vec3 {
	return so3.Vec3{X: s.NormFloat64(), Y: s.NormFloat64(), Z: s.NormFloat64()}
}

// direction returns a unit vector, all directions alike.
func (s *stream) direction() so3.Vec3 {
	v := s.normal()
	return v.Scale(1 / max(v.Norm(), 1e-12))
}

// Outages are the times of an Outage under a seed.
type Outages struct{ episodes }

// Start begins anew; name sets them apart from others under the seed.
func (o *Outages) Start(of Outage, seed uint64, name string) {
	o.start(of.Every, of.Length, seed, name)
}

// On reports whether one is on at t, s. Times rise from call to call.
func (o *Outages) On(t float64) bool {
	on, _ := o.at(t)
	return on
}

// episodes come and go at random: times between and lengths are exponential.
type episodes struct {
	stream
	every, length float64 // means, s
	from, to      float64 // of the present or next one, s
	entered       bool
}

func (e *episodes) start(every, length float64, seed uint64, name string) {
	e.seed(seed, name)
	e.every, e.length, e.entered, e.to = every, length, false, 0
	e.plan()
}

func (e *episodes) plan() {
	if e.every == 0 {
		e.from, e.to = math.Inf(1), math.Inf(1)
		return
	}
	e.from = e.to + e.every*e.ExpFloat64()
	e.to = e.from + e.length*e.ExpFloat64()
}

// at reports whether an episode is on at a time, and whether this is the first call in it. Times rise from call to
// call.
func (e *episodes) at(t float64) (on, fresh bool) {
	for t >= e.to {
		e.plan()
		e.entered = false
	}
	on = t >= e.from
	fresh = on && !e.entered
	e.entered = on
	return on, fresh
}
