package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/guard"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// epoch is what the loop's clock shows at the start of a world, ns.
const epoch = 1_700_000_000_000_000_000

// samplesWaiting is how many samples a stopped controller keeps, as the node does.
const samplesWaiting = 200

// Steps of time, s.
const (
	step  = 0.0025 // between two looks at motion capture
	timer = 4      // steps between two looks at the clock, as the node has them: half a period
)

// Tick is what was true at a tick of the loop, and what the loop did.
type Tick struct {
	T          float64 // s since the start
	Truth      quad.State
	Estimate   quad.State
	Reference  quad.Reference // at T
	Command    quad.Command   // that was sent
	Stage      guard.Stage
	Cause      guard.Cause
	Violation  guard.Cause
	Mode       closedloop.Mode // of the vehicle
	Bundle     string
	FromLatent bool // the policy had a latent, not the prior mean
}

// Moment is the true motion at a time.
type Moment struct {
	T     float64 // s since the start
	State quad.State
}

// Result of a run.
type Result struct {
	Seed   uint64 // of the world
	Ticks  []Tick
	Motion []Moment // every 20 ms, whether the loop ticks or not
	Crash  string   // of the simulator, in words

	Touchdown float64 // greatest speed at which the feet met the ground, m/s
	Landed    float64 // when they did first, s; +Inf: never
	MotorsOff float64 // when motors stopped at last, s; +Inf: they turn
	Failsafe  float64 // when the autopilot began to land by itself, s; +Inf: never
	Cut       float64 // longest time without thrust above 0.15 m, not the policy's doing, s
	Outside   float64 // greatest distance outside of the fence, m
	Highest   float64 // m
	End       float64 // s
	Figures   []Figure

	watched watched

	twins   *twins
	twinKey twinKey
}

// Figure is something measured in a run that is not held against a limit.
type Figure struct {
	Name  string
	Value float64 // +Inf: it never came
	Unit  string
}

// flight is a run at work.
type flight struct {
	*Run
	vehicle *closedloop.Vehicle
	board   sim.Firmware // nil: the world's rate loop flies
	loop    *control.Loop
	pace    control.Scheduler
	source  *estimator.Estimator // of an odometry's velocity
	queue   []Sample             // that have not arrived
	arrival float64              // of the sample before
	waiting []Sample             // that a stopped controller has not taken
	record  control.TickRecord
	latents *control.Latents
	gyro    sim.Sensors // where motors are commanded
	orders  []Order
	cutFrom float64 // s; NaN while there is thrust
	asked   float64 // when the policy flew without thrust last, s
	stood   float64 // since when the robot stands, s; NaN in the air
	ended   control.Ended
}

// Fly flies the run as the node policy_controller does, and fills its Result in.
func (r *Run) Fly() (err error) {
	f := &flight{Run: r, record: control.NewTickRecord(), cutFrom: math.NaN(), stood: math.NaN()}
	r.Landed, r.MotorsOff, r.Failsafe = math.Inf(1), math.Inf(1), math.Inf(1)
	f.orders = slices.Clone(r.Orders)
	slices.SortStableFunc(f.orders, func(a, b Order) int { return cmp.Compare(a.At, b.At) })
	defer func() {
		if f.board != nil {
			err = errors.Join(err, f.board.Close())
		}
	}()
	if err := f.begin(); err != nil {
		return err
	}
	end := r.Onset + r.After
	r.Ticks = make([]Tick, 0, int(end*r.Config.Rate)+2)
	for n := 1; f.vehicle.Time() < end && !f.over(); n++ {
		before := f.vehicle.Truth().State
		f.vehicle.Advance(step)
		f.turned()
		f.watch(&before)
		if n%(2*timer) == 0 {
			f.Motion = append(f.Motion, Moment{f.vehicle.Time(), f.vehicle.Truth().State})
		}
		if err := f.turn(n%timer == 0); err != nil {
			return err
		}
	}
	r.End, r.Crash = f.vehicle.Time(), ""
	if f.vehicle.Mode() == closedloop.Crashed {
		r.Crash = f.vehicle.Status()
	}
	return nil
}

func (f *flight) begin() (err error) {
	if f.vehicle, err = closedloop.NewVehicleIn(f.World, f.Seed, f.Start, f.autopilot()); err != nil {
		return err
	}
	if f.Firmware != nil {
		board, err := f.Firmware(f.World)
		if err != nil {
			return err
		}
		f.board = board // there is nothing to close of one that did not start
		if err = f.vehicle.Fit(f.board); err != nil {
			return err
		}
	}
	f.vehicle.ExternalPoses() // with the same faults as the loop's
	if f.loop, err = control.New(f.Config); err != nil {
		return err
	}
	if f.source, err = estimator.New(f.Config.Estimate); err != nil {
		return err
	}
	f.pace = control.NewScheduler(f.Config.Period())
	if err := f.byMotors(); err != nil {
		return err
	}
	policy, err := control.LoadPolicy(f.Bundle, f.robot(), f.Config.Rate)
	if err != nil {
		return err
	}
	task, err := control.NewTaskReference(f.Cell.Task, f.Path)
	if err != nil {
		return err
	}
	if err := f.makeLatents(); err != nil {
		return err
	}
	f.loop.SetPolicy(policy)
	f.loop.SetReference(task)
	f.loop.SetAutopilotLands(f.Helper && !f.LawLands)
	return nil
}

// over reports whether nothing more can happen: after a crash, or a while after the motors stopped on the ground.
func (f *flight) over() bool {
	const rest = 2.0 // s
	now := f.vehicle.Time()
	return f.vehicle.Mode() == closedloop.Crashed || now > f.Onset+rest && now > f.MotorsOff+rest && now > f.stood+rest
}

// now is the loop's clock, ns.
func (f *flight) now() int64 {
	t := f.vehicle.Time()
	if f.Clock != nil {
		t += f.Clock(t - f.Onset)
	}
	return ns(t)
}

func ns(t float64) int64 { return epoch + int64(math.Round(t*1e9)) }

// turn hands the loop what has arrived, and ticks when that is due: by samples, or by the clock's timer.
func (f *flight) turn(alarm bool) error {
	now, due := f.now(), false
	for _, m := range f.arrived() {
		f.vehicle.Pose(sim.Sample{Stamp: m.Stamp, Arrival: m.Arrival, P: m.State.P, Q: m.State.Q})
		f.waiting = append(f.waiting, m)
	}
	if t := f.vehicle.Time() - f.Onset; f.Stall != nil && t >= 0 && f.Stall(t) {
		f.waiting = f.waiting[max(0, len(f.waiting)-samplesWaiting):]
		return nil
	}
	for _, m := range f.waiting {
		stamp := m.Stamp
		if f.Stamps {
			stamp += f.Clock(m.Stamp - f.Onset)
		}
		s := control.Sample{Stamp: ns(stamp), State: m.State, HasVelocity: f.Config.MeasuresVelocity()}
		f.loop.SamplesCame(now, ns(f.vehicle.Time()))
		f.loop.AddSample(&s)
		due = f.pace.DueAtSample(s.Stamp, now) || due
	}
	f.waiting = f.waiting[:0]
	if !due && !(alarm && f.pace.DueByClock(now)) {
		return nil
	}
	for len(f.orders) > 0 && f.vehicle.Time() >= f.Onset+f.orders[0].At {
		if err := f.orders[0].Do(f.loop); err != nil {
			return err
		}
		f.orders = f.orders[1:]
	}
	return f.tick(now)
}

// arrived are the samples that the loop gets now, with their fault.
func (f *flight) arrived() []Sample {
	for _, s := range f.vehicle.Mocap() {
		m := Sample{Stamp: s.Stamp, Arrival: s.Arrival, State: quad.State{P: s.P, Q: s.Q}}
		if f.Config.MeasuresVelocity() {
			state, outcome := f.source.Add(estimator.Pose{T: s.Stamp, P: s.P, Q: s.Q})
			if outcome != estimator.Ready {
				continue
			}
			m.State = state
		}
		if t := s.Stamp - f.Onset; t >= 0 && f.Mocap != nil && !f.Mocap(t, &m) {
			continue
		}
		f.arrival = max(f.arrival, m.Arrival)
		m.Arrival = f.arrival // samples arrive in order
		f.queue = append(f.queue, m)
	}
	n := 0
	for n < len(f.queue) && f.queue[n].Arrival <= f.vehicle.Time() {
		n++
	}
	out := f.queue[:n:n]
	f.queue = f.queue[n:]
	return out
}

// tick is one of the loop. Its command reaches the vehicle unless the autopilot has left offboard mode.
func (f *flight) tick(now int64) error {
	offboard := math.IsInf(f.Failsafe, 1) && f.vehicle.Time() >= f.HandedOver && f.vehicle.Mode() != closedloop.Disarmed
	f.loop.SetOffboard(offboard)
	if _, ok := f.loop.Tick(now); !ok {
		return nil
	}
	if t := f.vehicle.Time() - f.Onset; offboard && !f.loop.Guard().Silent() &&
		(t < 0 || f.Sent == nil || f.Sent(t)) {
		f.obey()
	}
	k, truth := &f.record, f.vehicle.Truth()
	f.loop.FinishTick(k)
	if f.board != nil && f.ended.Due(k.Stage, time.Duration(now-epoch)) {
		f.vehicle.StopMotors() // as the node does with a board that keeps them turning
	}
	t := Tick{T: truth.Time, Truth: truth.State, Estimate: k.State, Command: k.Sent, Stage: k.Stage, Cause: k.Cause,
		Violation: f.loop.Guard().Violation(), Mode: f.vehicle.Mode(), Bundle: k.Bundle, FromLatent: k.LatentStamp != 0}
	if len(k.Reference) > 0 {
		t.Reference = later(k.Reference[0], seconds(now-k.Stamp))
	}
	f.Ticks = append(f.Ticks, t)
	if f.Battery != nil {
		if err := f.watchBattery(k); err != nil {
			return err
		}
	}
	if f.Latent == nil {
		if z := f.latents.Tick(k); z != nil && f.latents.Known() {
			f.loop.SetLatent(z)
		}
		return nil
	}
	z := control.Latent{Stamp: k.Stamp, Bundle: k.Bundle, Mean: make([]float32, f.loop.Policy().Latent())}
	if f.Latent(truth.Time-f.Onset, &z) {
		f.loop.SetLatent(&z)
	}
	return nil
}

// makeLatents has latents made by the bundles that may fly, as the node latent_encoder makes them.
func (f *flight) makeLatents() (err error) {
	if f.latents, err = control.NewLatents(f.Config.LatentAge); err != nil {
		return err
	}
	m, err := control.LoadLatentModel(f.Bundle, f.Config.Rate)
	if err != nil {
		return err
	}
	if m != nil {
		f.latents.Add(m)
	}
	for _, o := range f.orders {
		if o.Bundle == nil {
			continue
		}
		if m, err := control.LoadLatentModel(o.Bundle, f.Config.Rate); err == nil && m != nil {
			f.latents.Add(m) // one that does not load does not fly either
		}
	}
	return nil
}

// later is where the reference of a state is by the time of the truth, some s later: against that of the state's own
// stamp a fast robot would seem to err while samples are missing.
func later(r quad.Reference, age float64) quad.Reference {
	age = min(max(age, 0), maxAge)
	r.P = r.P.Add(r.V.Scale(age)).Add(r.A.Scale(age * age / 2))
	return r
}

// maxAge is the age of a state up to which its reference says where the robot is to be now, s.
const maxAge = 0.2

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// watch measures what is true after a step.
func (f *flight) watch(before *quad.State) {
	now := f.vehicle.Truth()
	if f.vehicle.Mode() == closedloop.Failsafe {
		f.Failsafe = min(f.Failsafe, now.Time)
	}
	p, ground := now.State.P, f.World.Ground.Height+f.World.Ground.Feet
	f.Highest = max(f.Highest, p.Z)
	lo, hi := f.Config.Fence()
	f.Outside = max(f.Outside, lo.X-p.X, lo.Y-p.Y, lo.Z-p.Z, p.X-hi.X, p.Y-hi.Y, p.Z-hi.Z)
	const touch, cutHeight, least = 0.01, 0.15, 0.2 // m, m, share of the weight
	switch stands := p.Z < ground+touch; {
	case !stands:
		f.stood = math.NaN()
	case math.IsNaN(f.stood):
		f.stood = now.Time
		if before.P.Z >= ground+touch {
			f.Touchdown = max(f.Touchdown, before.V.Norm())
			f.Landed = min(f.Landed, now.Time)
		}
	}
	thrust := f.lift(&now.RotorSpeed)
	if thrust >= least {
		f.cutFrom, f.MotorsOff = math.NaN(), math.Inf(1)
		return
	}
	f.withoutThrust(now.Time, p.Z > ground+cutHeight)
}

// withoutThrust takes down that motors turn no more at a time. While the policy flies that is its own doing.
func (f *flight) withoutThrust(now float64, aloft bool) {
	if math.IsNaN(f.cutFrom) {
		f.cutFrom, f.MotorsOff = now, now
	}
	if n := len(f.Ticks); n == 0 || f.Ticks[n-1].Stage.PolicyFlies() {
		f.asked = now
	} else if aloft {
		f.Cut = max(f.Cut, now-max(f.cutFrom, f.asked))
	}
}

// lift is the rotors' thrust as a share of the weight.
func (f *flight) lift(speed *[4]float64) (share float64) {
	m := &f.World.Motor
	for _, x := range speed {
		share += m.Thrust * x * x / (m.Speed * m.Speed)
	}
	return share / (f.World.Airframe.Mass * quad.Gravity)
}

// Replay is the name under which the run is flown again.
func (r *Run) Replay() string {
	for i, c := range Cells() {
		if c == r.Cell {
			return fmt.Sprintf("%s:%d:%d", r.Row.ID, i, r.Number)
		}
	}
	return r.Row.ID
}
