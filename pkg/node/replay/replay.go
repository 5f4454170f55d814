// Package replay has the code of the nodes fly again what a bag recorded: the samples of motion capture go through the
// control loop, with the latents that it was given, and commands and latents are compared with the recorded ones. It is
// for `vnd replay` and `vnd explain`.
package replay

import (
	"context"
	"fmt"
	"math"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/robot/rotors"
)

// Report is what a replay found. The guard's ticks are not replayed: its law depends on the time of a tick, which is
// not recorded.
type Report struct {
	Ticks     int `json:"ticks"`           // steps in the bag
	Policy    int `json:"policy_ticks"`    // of them, those that the policy flew and that can be replayed
	Exact     int `json:"exact"`           // of them, those whose command came out to the bit
	Within    int `json:"within_rounding"` // of them, those that differ by no more than Rounding
	Unsampled int `json:"unsampled"`       // ticks on a sample that is not in the bag
	// Uncorrected are ticks whose reference the policy saw moved by what it had learned in ticks that the bag lacks.
	Uncorrected int `json:"uncorrected"`

	Guard      int     `json:"guard_ticks"`       // of the guard's law, or not followed by the autopilot
	Lost       uint64  `json:"steps_lost"`        // gaps of seq
	Primed     bool    `json:"from_the_start"`    // the bag begins with the flight, so that all past commands are known
	Worst      float64 `json:"worst"`             // largest difference of a command, m/s² or rad/s
	FirstOff   *uint64 `json:"first_off"`         // seq of the first command that differs by more than Rounding
	Latents    int     `json:"latents"`           // computed anew, and recorded
	LatentsOff float64 `json:"latent_difference"` // largest one of them
	Same       int     `json:"latents_exact"`     // to the bit
	Unread     int     `json:"unread"`            // messages that could not be decoded
	Flight     float64 `json:"flight_s"`
}

// Rounding is what commands may differ by, m/s² or rad/s, where other kernels computed them than those that flew:
// another processor, or another library for matrix products. 2e-6 was measured between C and Go.
const Rounding = 2e-5

// ReplayedTick is a tick flown again.
type ReplayedTick struct {
	Step   *msgs.Step
	Policy *control.LoadedPolicy // that flew it
	Again  quad.Command          // what the policy asks for
	Off    float64               // by how much the command differs, m/s² or rad/s
	Inputs []float32             // of the policy's network, normalised: in units of their spread in training
	Latent []float32             // z[Z] that the encoder finds now; nil where it has none
}

// Run replays a bag. config is the controller's parameter file, "" for defaults; bundles are files of bundles that the
// bag does not hold. each is called with every tick that can be replayed; it may be nil.
func Run(ctx context.Context, path, config string, bundles []string, each func(*ReplayedTick)) (*Report, error) {
	r, err := read(path, config, bundles)
	if err != nil {
		return nil, err
	}
	f := &flight{recorded: r, each: each, report: Report{Ticks: len(r.steps), Unread: r.unread}}
	for begin := 0; begin < len(r.steps); {
		end := begin + 1
		for end < len(r.steps) && r.steps[end].Seq > r.steps[end-1].Seq {
			end++
		}
		if err := f.fly(ctx, r.steps[begin:end]); err != nil {
			return nil, err
		}
		begin = end
	}
	first, last := stamp(&r.steps[0]), stamp(&r.steps[len(r.steps)-1])
	f.report.Flight = float64(last-first) / 1e9
	return &f.report, nil
}

func stamp(s *msgs.Step) int64 { return bridge.Nanoseconds(s.Header.Stamp) }

// flight is the loop that flies again.
type flight struct {
	*recorded
	each   func(*ReplayedTick)
	report Report

	loop     *control.Loop
	filtered bool // the policy flew by the filter of poses: its states are those of the steps
	path     *recordedPath
	next     int // of the samples
	policies map[string]*control.LoadedPolicy
	past     bool // all past commands are those that were flown
	learned  bool // all that the policy's correction of the reference was learned from is in the bag
	given    int  // ticks in a row whose recorded commands the loop got
	tick     control.TickRecord
	computed latents
}

// fly flies the steps of one activation of the controller.
func (f *flight) fly(ctx context.Context, steps []msgs.Step) error {
	from, since := f.next, stamp(&steps[0])
	if f.filtered = f.byFilter(steps); !f.filtered {
		var err error
		if from, since, err = f.begin(steps); err != nil {
			return err
		}
	}
	if err := f.anew(from, since); err != nil {
		return err
	}
	f.past, f.given, f.learned = steps[0].Seq == 0, 0, steps[0].Seq == 0
	f.report.Primed = f.report.Primed || f.past
	for i := range steps {
		if i%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if i > 0 {
			f.report.Lost += steps[i].Seq - steps[i-1].Seq - 1
			if steps[i].Seq != steps[i-1].Seq+1 {
				f.past, f.given, f.learned = false, 0, false
			}
		}
		if err := f.step(&steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// byFilter reports whether a policy flew by the filter of poses: its states are of ticks, and lie where no sample of
// that time does. What the filter made depends on when samples came, which is not recorded. So it is not made again.
func (f *flight) byFilter(steps []msgs.Step) bool {
	if !f.params.FiltersPoses() {
		return false
	}
	sampled, flown, of := map[int64]so3.Vec3{}, 0, 0
	for i := range f.samples {
		sampled[f.samples[i].Stamp] = f.samples[i].State.P
	}
	for i := range steps {
		s := &steps[i]
		if !guard.Stage(s.GuardState).PolicyFlies() { // nor does the filter
			continue
		}
		flown++
		if p, ok := sampled[stamp(s)]; ok && p == bridge.FromStep(s).State.P {
			of++
		}
	}
	return of <= flown/2
}

// begin finds the sample with which the loop began: its second is the origin of the loop's times, which their last bits
// depend on. It is not recorded where the loop waited for a bundle, or began before the bag did, so that each second is
// tried, up to some minutes before the bag.
func (f *flight) begin(steps []msgs.Step) (from int, since int64, err error) {
	const early, second, before = 200e6, 1e9, 600 // ns: what the estimator takes at the least; ns; s
	target, latest, tried := stamp(&steps[0]), f.next, int64(-1)
	for i := f.next; i < len(f.samples) && f.samples[i].Stamp < target; i++ {
		if f.samples[i].Stamp <= target-early {
			latest = i
		}
	}
	for i := latest; i >= f.next && i < len(f.samples); i-- {
		if f.samples[i].Stamp/second == tried {
			continue
		}
		tried = f.samples[i].Stamp / second
		if ok, err := f.agrees(i, f.samples[i].Stamp, steps); ok || err != nil {
			return i, f.samples[i].Stamp, err
		}
	}
	for k := int64(1); k <= before && tried-k >= 0; k++ {
		if ok, err := f.agrees(f.next, (tried-k)*second, steps); ok || err != nil {
			return f.next, (tried - k) * second, err
		}
	}
	if latest < len(f.samples) {
		since = f.samples[latest].Stamp
	}
	return latest, since, nil
}

// agrees reports whether the first states come out to the bit for a loop that begins with a sample, and counts from an
// instant. Of a bag that begins in mid-flight the first states lack samples: the last one counts.
func (f *flight) agrees(from int, since int64, steps []msgs.Step) (agreed bool, err error) {
	next, report, each := f.next, f.report, f.each
	defer func() { f.next, f.report, f.each = next, report, each }()
	f.each = nil
	if err := f.anew(from, since); err != nil {
		return false, err
	}
	const enough = 20
	for i := range steps[:min(enough, len(steps))] {
		s := &steps[i]
		if !f.sense(s) {
			continue
		}
		if err := f.aboard(s); err != nil {
			return false, err
		}
		if _, ok := f.loop.Tick(stamp(s)); !ok {
			f.path = nil
			continue
		}
		f.loop.FinishTick(&f.tick)
		agreed = f.tick.State == bridge.FromStep(s).State
		if !agreed && s.Seq < 5 {
			return false, nil
		}
	}
	return agreed, nil
}

// anew makes a loop that has seen nothing.
func (f *flight) anew(from int, since int64) error {
	c := f.params.Config
	c.LatentAge = math.Inf(1) // which latents were used is recorded
	c.Filter = false
	if f.filtered {
		c.Source = control.FromOdometry
	}
	loop, err := control.New(c)
	if err != nil {
		return err
	}
	loop.SetOrigin(since)
	f.loop, f.path, f.next, f.tick = loop, nil, from, control.NewTickRecord()
	if f.policies == nil {
		f.policies = map[string]*control.LoadedPolicy{}
	}
	f.computed, err = newLatents(&f.params.Config)
	return err
}

// sense takes samples up to the one of a step's stamp, and reports whether it was there. Of a policy that flew by a
// filter it takes the step's own state.
func (f *flight) sense(s *msgs.Step) bool {
	target := stamp(s)
	if f.filtered {
		f.loop.AddSample(&control.Sample{Stamp: target, State: bridge.FromStep(s).State, HasVelocity: true})
		return true
	}
	if f.next > 0 && f.samples[f.next-1].Stamp == target {
		return true
	}
	const furthest = 1000 // samples, that may have changed places
	for i := f.next; i < min(len(f.samples), f.next+furthest); i++ {
		if f.samples[i].Stamp != target {
			continue
		}
		for ; f.next <= i; f.next++ {
			f.loop.AddSample(&f.samples[f.next])
		}
		return true
	}
	return false
}

// aboard has the loop fly the bundle, the reference and the latent of a step.
func (f *flight) aboard(s *msgs.Step) error {
	policy := f.policies[s.BundleID]
	if policy == nil {
		b := f.bundles[s.BundleID]
		if b.Robot == rotors.Name {
			return fmt.Errorf("bundle %s commands rotors: its body rates are not in a bag of steps, expected a policy "+
				"of thrust and body rates", b.ID)
		}
		var err error
		if policy, err = control.LoadPolicy(b, b.Robot, f.params.Rate); err != nil {
			return err
		}
		if policy.Landmarks() > 0 {
			return fmt.Errorf("bundle %s flies by landmarks: which frames were there at a tick is not recorded, "+
				"expected a policy that sees positions", b.ID)
		}
		f.policies[s.BundleID] = policy
	}
	if f.loop.Policy() != policy {
		f.loop.SetPolicy(policy)
	}
	if f.path == nil {
		f.path = &recordedPath{begun: stamp(s)}
		reference, err := control.NewTaskReference(s.Task, f.path)
		if err != nil {
			return err
		}
		reference.Blended = true
		f.loop.SetReference(reference)
	}
	f.path.step, f.path.policy = s, policy
	if guard.Stage(s.GuardState) == guard.NotOffboard { // a reference waits at its beginning
		f.path.begun = stamp(s)
	}
	z := control.Latent{Stamp: bridge.Nanoseconds(s.LatentStamp), Bundle: s.BundleID, Mean: s.Latent,
		Novelty: 1 - s.Confidence}
	f.loop.SetLatent(&z) // without a stamp it is the prior mean
	return nil
}

// step flies a tick again.
func (f *flight) step(s *msgs.Step) error {
	latent := f.computed.compute(f, s)
	if !f.sense(s) {
		f.report.Unsampled++
		f.past, f.given, f.learned = false, 0, false
		return nil
	}
	if err := f.aboard(s); err != nil {
		return err
	}
	was := guard.Stage(s.GuardState)
	f.obey(was)
	if _, ok := f.loop.Tick(stamp(s)); !ok { // too few samples before it
		f.report.Unsampled++
		f.path = nil // the reference begins with the first tick
		return nil
	}
	f.loop.FinishTick(&f.tick)
	t := &ReplayedTick{Step: s, Policy: f.loop.Policy(), Again: f.tick.Command, Inputs: f.loop.Inputs(), Latent: latent}
	off := difference(f.tick.Command, s.Command)
	if t.Off = off; was == guard.Policy { // in what else goes out the guard's law has a share
		t.Off = math.Max(off, difference(f.tick.Sent, s.CommandSent))
	}
	f.learned = f.learned || was == guard.NotOffboard || !f.loop.Policy().Corrects()
	f.count(s, was.PolicyFlies(), t.Off)
	f.prime(s)
	if f.each != nil {
		f.each(t)
	}
	return nil
}

// obey gives the guard the word, or takes it from it, as it was in flight: there it may have been for the time of a
// tick.
func (f *flight) obey(was guard.Stage) {
	f.loop.SetOffboard(was.Offboard())
	f.loop.Guard().Recall(was)
}

// prime gives the loop the recorded commands, until it has all of the past that the policy sees, and limited ones.
func (f *flight) prime(s *msgs.Step) {
	c := s.Command
	if guard.Stage(s.GuardState) == guard.Limited {
		c = s.CommandSent
	} else if f.past {
		return
	}
	f.loop.OverrideLastCommand(quad.Command{Thrust: c[0], Rates: so3.Vec3{X: c[1], Y: c[2], Z: c[3]}})
	const enough = 60 // the longest past, and what the estimator takes
	if f.given++; f.given >= enough {
		f.past = true
	}
}

func (f *flight) count(s *msgs.Step, flew bool, off float64) {
	r := &f.report
	if !flew {
		r.Guard++
		f.past = true // the policy forgets what it commanded
		return
	}
	if !f.past && off > Rounding {
		return // its past commands are not known
	}
	if !f.learned && off > Rounding {
		r.Uncorrected++
		return
	}
	r.Policy++
	r.Worst = math.Max(r.Worst, off)
	if off == 0 {
		r.Exact++
	}
	if off <= Rounding {
		r.Within++
		return
	}
	if r.FirstOff == nil {
		seq := s.Seq
		r.FirstOff = &seq
	}
}

// String says what came of it in a line.
func (r *Report) String() string {
	if r.Exact < r.Within {
		return fmt.Sprintf("%d of %d ticks of the policy came out, %d of them to the bit", r.Within, r.Policy, r.Exact)
	}
	return fmt.Sprintf("%d of %d ticks of the policy came out to the bit", r.Exact, r.Policy)
}
