package replay

import (
	"path/filepath"
	"testing"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/policy"
	"vnd/pkg/node/controller"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// tape is a bag that is being written.
type tape struct {
	t *testing.T
	w *bag.Writer
}

func (x *tape) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *tape) write(topic string, at int64, m cdr.Message) {
	x.t.Helper()
	data, err := cdr.Marshal(m)
	x.must(err)
	known, _ := msgs.Lookup(m.TypeName())
	x.must(x.w.AddTopic(bag.Topic{Name: topic, Type: known.Name, Definition: known.Definition()}))
	x.must(x.w.Write(&bag.Message{Topic: topic, LogTime: at, PublishTime: at, Data: data}))
}

// tracking is a loop that is to fly the figure-eight, by default parameters but for the filter of poses; and its pace.
func (x *tape) tracking(bundleFile string, filtered bool) (*control.Loop, control.Scheduler) {
	x.t.Helper()
	var p controller.Params
	param.Default(&p)
	p.Filter = filtered
	loop, err := control.New(p.Config)
	x.must(err)
	b, err := bundle.Read(bundleFile)
	x.must(err)
	policy, err := control.LoadPolicy(b, quadrotor.Name, p.Rate)
	x.must(err)
	reference, err := control.NewTaskReference("track", nil)
	x.must(err)
	loop.SetPolicy(policy)
	loop.SetReference(reference)
	return loop, control.NewScheduler(p.Period())
}

// bare flights are without the filter of poses, and tick at the time of a sample.
const bare = int64(-1)

// handover is a bag of a flight that an autopilot began, that followed commands from a time on (s), and that it took
// back; and how many ticks were not followed. Ticks are so many ns after their samples, and the policy flies by the
// filter of poses; bare is without it.
func handover(t *testing.T, bundleFile string, from, to, end float64, late int64) (path string, unfollowed int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "handover")
	w, err := bag.Create(path, bag.WriterOptions{})
	x := &tape{t, w}
	x.must(err)
	loop, pace := x.tracking(bundleFile, late != bare)
	var a closedloop.Autopilot
	param.Default(&a)
	v, err := closedloop.NewVehicle("", 1, so3.Vec3{X: 0.2, Z: 1}, a)
	x.must(err)
	const epoch, step = 1_700_000_000_123_456_789, 0.0025
	for v.Time() < end {
		v.Advance(step)
		followed := v.Time() >= from && v.Time() < to
		if !followed && v.Mode() == closedloop.Offboard {
			v.Hold()
		}
		for _, s := range v.Mocap() {
			m := control.Sample{Stamp: epoch + int64(s.Stamp*1e9), State: quad.State{P: s.P, Q: s.Q}}
			var pose geometrymsgs.PoseStamped
			bridge.PutPoseStamped(&pose, m.Stamp, "world", m.State)
			x.write("/quad/mocap/pose", m.Stamp, &pose)
			loop.AddSample(&m)
			now := m.Stamp + max(late, 0)
			if !pace.DueAtSample(m.Stamp, now) {
				continue
			}
			loop.SetOffboard(followed)
			c, ok := loop.Tick(now)
			if !ok {
				continue
			}
			if followed {
				v.Command(c)
			} else {
				unfollowed++
			}
			k := control.NewTickRecord()
			loop.FinishTick(&k)
			var said msgs.Step
			bridge.PutStep(&said, &k, "world")
			x.write("/quad/step", m.Stamp, &said)
		}
	}
	x.must(w.Close())
	return path, unfollowed
}

// What was flown before and after commands were followed is no matter of the policy's, whose past is empty when it
// takes over, and all that it commanded then comes out.
func TestThroughAHandOver(t *testing.T) {
	path, unfollowed := handover(t, bundleFile, 2, 5, 6, bare)
	r := run(t, path, "")
	if r.Guard != unfollowed || r.Policy != r.Ticks-unfollowed || r.Policy < 140 || r.Exact != r.Policy || !r.Primed ||
		r.Unsampled+r.Unread != 0 {
		t.Errorf("%d ticks were not followed: %+v", unfollowed, *r)
	}
	n := 0
	if _, err := Run(t.Context(), path, "", []string{bundleFile}, func(k *ReplayedTick) {
		if guard.Stage(k.Step.GuardState) == guard.NotOffboard && k.Latent != nil {
			n++
		}
	}); err != nil || n != 0 {
		t.Errorf("%d latents of commands that were not flown, %v", n, err)
	}
}

// A policy that flew by the filter of poses comes out by the states that it saw.
// Simulated time may be that of a sample.
func TestFilteredFlightComesOut(t *testing.T) {
	for _, late := range []int64{3e6, 0} {
		path, unfollowed := handover(t, bundleFile, 2, 5, 6, late)
		if r := run(t, path, ""); r.Guard != unfollowed || r.Policy != r.Ticks-unfollowed || r.Policy < 140 ||
			r.Within != r.Policy || r.Exact < r.Policy*9/10 || r.Unsampled+r.Unread != 0 {
			t.Errorf("%d ns late: %d ticks were not followed: %+v", late, unfollowed, *r)
		}
	}
}

// What a runner does beside the network comes out, too: it takes no more of a reference than what is recorded.
func TestSteadyFlightComesOut(t *testing.T) {
	x := &tape{t: t}
	b, err := bundle.Read(bundleFile)
	x.must(err)
	p, err := policy.FromBundle(b)
	x.must(err)
	param.Default(&p.Steady)
	x.must(policy.Put(b, p, b.Task))
	file := filepath.Join(t.TempDir(), "steady.vnd")
	x.must(bundle.Write(file, b))
	path, unfollowed := handover(t, file, 0.5, 8, 8, bare)
	again := func(path string) *Report {
		r, err := Run(t.Context(), path, "", []string{file}, nil)
		x.must(err)
		return r
	}
	if r := again(path); r.Policy != r.Ticks-unfollowed || r.Policy < 300 || r.Exact != r.Policy || r.Uncorrected != 0 {
		t.Errorf("%+v", *r)
	}
	for name, change := range map[string]func(k int, s *msgs.Step) bool{
		"without its beginning": func(k int, _ *msgs.Step) bool { return k >= 150 },
		"with a step lost":      func(k int, _ *msgs.Step) bool { return k != 150 },
	} {
		r := again(changedFrom(t, path, onSteps(t, change)))
		if r.FirstOff != nil || r.Within != r.Policy || r.Uncorrected < 100 {
			t.Errorf("%s: %+v", name, *r)
		}
	}
}
