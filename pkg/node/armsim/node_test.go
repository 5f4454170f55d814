package armsim

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/core/param/paramtest"
	"vnd/pkg/node"
	"vnd/pkg/robot/arm"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/sim/manipulation"
)

func TestParameterFile(t *testing.T) { paramtest.File[Params](t, Name) }

const patience = 30 * time.Second

// rig is arm_sim in lockstep, with the test as its controller.
type rig struct {
	t      *testing.T
	log    rostest.Console
	sim    *simulator
	states chan sensormsgs.JointState
	pub    *ros.Publisher[stdmsgs.Float64MultiArray]
}

func join(d *inproc.Domain, out io.Writer, parameters ...string) (*ros.Context, error) {
	args := []string{"--ros-args", "--disable-external-lib-logs"}
	for _, p := range parameters {
		args = append(args, "-p", p)
	}
	return ros.NewContext(ros.Options{Args: args, Backend: ros.InProcess(d), Stderr: out,
		Getenv: func(string) string { return "" }})
}

func newRig(t *testing.T, parameters ...string) *rig {
	t.Helper()
	r, d := &rig{t: t, states: make(chan sensormsgs.JointState, 1000)}, inproc.NewDomain()
	c, err := join(d, &r.log, append([]string{"lockstep:=true", "lockstep_patience:=30.0", "period:=0.02"},
		parameters...)...)
	if err != nil {
		t.Fatal(err)
	}
	other, err := join(d, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	n, err := other.NewNode("controller")
	if err != nil {
		t.Fatal(err)
	}
	if r.pub, err = ros.NewPublisher[stdmsgs.Float64MultiArray](n, node.JointEfforts, node.CommandQoS()); err != nil {
		t.Fatal(err)
	}
	if _, err = ros.NewSubscription(n, node.JointStates, node.JointStatesQoS(), r.take); err != nil {
		t.Fatal(err)
	}
	rostest.Spin(t, other, 1)
	ctx, cancel := context.WithCancel(context.Background())
	sim, err := newSimulator(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	r.sim = sim
	rostest.SpinWith(ctx, cancel, t, c, 1)
	if err := ros.WaitForMatched(within(t), r.pub, 1); err != nil {
		t.Fatal(err)
	}
	return r
}

// take keeps a state, unless nobody takes them.
func (r *rig) take(m *sensormsgs.JointState, _ ros.Info) {
	copied := *m
	copied.Name, copied.Position = slices.Clone(m.Name), slices.Clone(m.Position)
	select {
	case r.states <- copied:
	default:
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func (r *rig) command(tau ...float64) {
	r.t.Helper()
	if err := r.pub.Publish(&stdmsgs.Float64MultiArray{Data: tau}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) state() sensormsgs.JointState {
	r.t.Helper()
	select {
	case m := <-r.states:
		return m
	case <-time.After(patience):
		r.t.Fatal("no joint states come")
	}
	panic("not reached")
}

func (r *rig) refused() uint64 { return r.sim.refused.Load() }

// logs waits for a line.
func (r *rig) logs(line string) {
	r.t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(r.log.String(), line); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%q is not logged", line)
		}
	}
}

// fly commands a number of times, each in answer to a state, and returns the last one.
func (r *rig) fly(times int, tau ...float64) (m sensormsgs.JointState) {
	r.t.Helper()
	for range times {
		r.command(tau...)
		m = r.moved(m)
	}
	return m
}

// moved is the next state that is another than before: until the first command the brakes hold it.
func (r *rig) moved(before sensormsgs.JointState) sensormsgs.JointState {
	r.t.Helper()
	if before.Position == nil {
		before.Position = arm.Home[:]
	}
	for end := time.Now().Add(patience); time.Now().Before(end); {
		m := r.state()
		if math.Abs(m.Position[1]-before.Position[1]) > 1e-6 {
			return m
		}
	}
	r.t.Fatal("the arm does not move")
	panic("not reached")
}

// TestPayloadSinksInLockstep: each command lets time go on to the next; the same commands give the same states; the
// arm's own weight is carried, that of its payload is not.
func TestPayloadSinksInLockstep(t *testing.T) {
	for _, simulator := range []string{"", manipulation.MuJoCo} {
		t.Run(simulator, func(t *testing.T) { sinks(t, simulator) })
	}
}

func sinks(t *testing.T, simulator string) {
	w, err := manipulation.NewWorld[float64](simulator)
	if err != nil {
		t.Skip(err)
	}
	w.Close()
	var all [2]sensormsgs.JointState
	for i := range all {
		r := newRig(t, "payload:=2.0", fmt.Sprintf("simulator:=%q", simulator))
		all[i] = r.fly(10, make([]float64, arm.Joints)...)
	}
	if !slices.Equal(all[0].Position, all[1].Position) {
		t.Errorf("the same commands end at %v and %v", all[0].Position, all[1].Position)
	}
	if sunk := all[0].Position[1] - arm.Home[1]; sunk < 0.005 {
		t.Errorf("in 0.2 s 2 kg turn joint 2 by %g rad", sunk)
	}
	if all[0].Name[6] != "panda_joint7" || len(all[0].Effort) != arm.Joints {
		t.Errorf("%+v", all[0])
	}
}

// TestBadCommandsAreRefused, one line each, and the brakes stay closed.
func TestBadCommandsAreRefused(t *testing.T) {
	r := newRig(t, "payload:=2.0")
	for want, tau := range map[string][]float64{
		"commands: 3 numbers, expected 7: a torque of each joint": {1, 2, 3},
		`commands: the torque of joint "panda_joint3" is NaN N·m`: {0, 0, math.NaN(), 0, 0, 0, 0},
	} {
		before := r.refused()
		for range 3 {
			for was, end := r.refused(), time.Now().Add(patience); r.refused() == was; time.Sleep(time.Millisecond) {
				if r.command(tau...); time.Now().After(end) {
					t.Fatalf("%v is not refused", tau)
				}
			}
		}
		r.sim.Log().Info().Msgf("that was all after %d", before)
		r.logs(fmt.Sprintf("that was all after %d", before))
		if n := strings.Count(r.log.String(), want); n != 1 {
			t.Errorf("%q is logged %d times", want, n)
		}
	}
	for len(r.states) > 1 { // of before
		<-r.states
	}
	r.state()
	if m := r.state(); math.Abs(m.Position[1]-arm.Home[1]) > 2e-6 {
		t.Errorf("a command that is none moves the arm: %v", m.Position)
	}
}

// TestPayloadsChangeAndHaveLimits: while it runs, and at its start.
func TestPayloadsChangeAndHaveLimits(t *testing.T) {
	r := newRig(t)
	if err := r.sim.Parameters().SetAtomically(params.Parameter{Name: "payload", Value: 4.0}); err == nil ||
		!strings.Contains(err.Error(), "payload") || !strings.Contains(err.Error(), "3") {
		t.Errorf("4 kg: %v", err)
	}
	if err := r.sim.Parameters().SetAtomically(params.Parameter{Name: "payload", Value: 3.0}); err != nil {
		t.Fatal(err)
	}
	if m := r.fly(10, make([]float64, arm.Joints)...); m.Position[1]-arm.Home[1] < 0.01 {
		t.Errorf("3 kg do not sink: %v", m.Position)
	}
	t.Setenv("VND_SIMULATORS", t.TempDir())
	for parameter, want := range map[string]string{
		"payload:=3.5":                               "payload",
		"simulator:=mujoco":                          "MuJoCo",
		"simulator:=gazebo":                          "simulator",
		"payload_at:=[1.0, 1.0, 0.0]":                "distance of the payload is 1.4142135623730951, expected 0 to 1",
		"period:=0.0105":                             "period is 0.0105 s, expected a whole number of ms",
		"start:=[0.0]":                               "start has 1 numbers, expected 7",
		"joints:=[a, b]":                             "joints has 2 names, expected 7",
		"start:=[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]": "start has joint 4 at 0 rad, expected -3.0718 to -0.0698",
	} {
		c, err := join(inproc.NewDomain(), io.Discard, parameter)
		if err == nil {
			err = New(t.Context(), c)
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", parameter, err, want)
		}
	}
}
