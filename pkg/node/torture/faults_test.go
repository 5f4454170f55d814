package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim/campaign"
)

// kind is a kind of fault. It says what it did, and how that is removed.
type kind struct {
	name   string
	inject func(e *endurance) (what string, remove func())
	kills  bool // a node is started anew
}

func nothing() {}

// kinds are all faults: those of the safety campaign that concern motion capture, clocks, network and latents, then
// those of processes and of who else is on the network.
func kinds() []kind {
	all := []kind{{"node killed", (*endurance).killOne, true}, {"node stopped", (*endurance).stopOne, false},
		{"simulator stopped", (*endurance).stopSimulator, false},
		{"recorder flooded", (*endurance).floodRecorder, false},
		{"hostile packets", (*endurance).sendPackets, false}, {"second motion capture", (*endurance).spoof, false},
		{"corrupt bundle", (*endurance).corrupt, false}, {"bundle that crashes", (*endurance).swapCrashing, false},
		{"absurd orders", (*endurance).absurd, false}, {"landing ordered", (*endurance).orderLanding, false},
		{"another task", (*endurance).otherTask, false}}
	rows, err := campaign.Select("1,2,2b,4,6,7,8,9,10,11,12,13,15,16,19,24b,37")
	if err != nil {
		panic(err)
	}
	for _, row := range rows {
		all = append(all, kind{fmt.Sprintf("row %s: %s", row.ID, row.Name), func(e *endurance) (string, func()) {
			r, err := e.policies.Draw(&row, e.rng.Uint64())
			if err != nil {
				e.t.Fatal(err)
			}
			e.relay.inject(r.Fault, e.newest().bundle)
			return r.Label, func() { e.relay.inject(campaign.Fault{}, "") }
		}, false})
	}
	return all
}

// next is one of the nodes, each in turn.
func (e *endurance) next(turn *int) *process {
	*turn++
	return e.nodes[*turn%len(e.nodes)]
}

func (e *endurance) killOne() (string, func()) {
	p := e.next(&e.killed)
	p.kill()
	return p.name, func() {
		p.again()
		e.lives[p]++
	}
}

func (e *endurance) stopOne() (string, func()) { return e.pause(e.next(&e.stopped)) }

func (e *endurance) stopSimulator() (string, func()) { return e.pause(e.simulator) }

func (e *endurance) pause(p *process) (string, func()) {
	p.signal(syscall.SIGSTOP)
	return p.name, func() { p.signal(syscall.SIGCONT) }
}

// floodRecorder has the recorder write more than a flight brings.
func (e *endurance) floodRecorder() (string, func()) {
	const seconds = 3
	flood(e.t, e.steps200, e.bodies, seconds)
	return fmt.Sprintf("%d bodies at 360 Hz for %d s", len(e.bodies), seconds), nothing
}

// sendPackets sends one of the attacks that leave no participants and writers behind.
func (e *endurance) sendPackets() (string, func()) {
	var some []*attack
	for i := range ofStrangers {
		if x := &ofStrangers[i]; x.most == 0 && x.name[:8] != "ACKNACKs" { // whose victims nobody listened to
			some = append(some, x)
		}
	}
	x := some[e.rng.IntN(len(some))]
	n := e.attacks.strike(x)
	return fmt.Sprintf("%d packets: %s", n, x.name), nothing
}

// spoof publishes motion capture beside that of the simulator.
func (e *endurance) spoof() (string, func()) {
	pub := must(ros.NewPublisher[navmsgs.Odometry](e.n, "/quad/mocap/odom", node.MocapQoS()))(e.t)
	e.mu.Lock()
	at := e.place
	e.mu.Unlock()
	by := so3.Vec3{X: 0.2 * e.rng.NormFloat64(), Y: 0.2 * e.rng.NormFloat64()}
	var m navmsgs.Odometry
	for range 20 {
		bridge.PutOdometry(&m, e.newest().stamp, "world", "base_link", quad.State{P: at.Add(by), Q: so3.Identity()})
		_ = pub.Publish(&m)
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Sprintf("%.2f m off", by.Norm()), func() { _ = pub.Close() }
}

// corrupt publishes a bundle that must not fly.
func (e *endurance) corrupt() (string, func()) {
	m := e.message(e.policies.Listening)
	what := [...]string{"a byte changed", "cut off", "another robot"}[e.rng.IntN(3)]
	switch what {
	case "a byte changed":
		m.Data[e.rng.IntN(len(m.Data))] ^= 1
	case "cut off":
		m.Data = m.Data[:e.rng.IntN(len(m.Data))]
	default:
		m.Robot = "arm"
	}
	if err := e.bundleTopic.Publish(m); err != nil {
		e.t.Error(err)
	}
	return what, func() {
		if e.newest().bundle == m.ID {
			e.fail("a corrupt bundle flies: %s", what)
		}
	}
}

// swapCrashing publishes a bundle that is well formed, and does not fly.
func (e *endurance) swapCrashing() (string, func()) {
	b, name, err := e.policies.Crashing(e.rng)
	if err == nil {
		err = e.bundleTopic.Publish(e.message(b))
	}
	if err != nil {
		e.t.Error(err)
	}
	return name, func() { _ = e.bundleTopic.Publish(e.message(e.policies.Base)) }
}

// absurd asks for what must be refused.
func (e *endurance) absurd() (string, func()) {
	ctx, cancel := context.WithTimeout(e.ctx, orderPatience)
	defer cancel()
	r, err := e.setTask.Call(ctx, &msgs.SetTaskRequest{Task: "hover",
		ReferenceJSON: fmt.Sprintf(`{"kind": "hover", "point": [0, 0, %d]}`, 5+e.rng.IntN(1000))})
	if err == nil && r.Success {
		e.fail("a reference outside of the fence is flown: %+v", r)
	}
	limit := rclinterfaces.ParameterValue{Type: 3, DoubleValue: 100}
	s, err := e.setParameters.Call(ctx, &rclinterfaces.SetParametersRequest{
		Parameters: []rclinterfaces.Parameter{{Name: "guard.max_speed", Value: limit}}})
	if err == nil && len(s.Results) == 1 && s.Results[0].Successful {
		e.fail("a limit was changed in flight")
	}
	return "set_task, set_parameters", nothing
}

func (e *endurance) orderLanding() (string, func()) {
	e.trigger("land")
	return "", nothing
}

// otherTask flies a figure-eight for a while.
func (e *endurance) otherTask() (string, func()) {
	set := func(task string) {
		ctx, cancel := context.WithTimeout(e.ctx, orderPatience)
		defer cancel()
		_, _ = e.setTask.Call(ctx, &msgs.SetTaskRequest{Task: task})
	}
	set("track")
	return "track, then hover", func() { set("hover") }
}

// bodiesOf are publishers of bodies that nobody flies.
func (f *field) bodiesOf(names []string) (all []*ros.Publisher[geometrymsgs.PoseStamped]) {
	for _, name := range names {
		all = append(all, must(ros.NewPublisher[geometrymsgs.PoseStamped](f.n, "/quad/"+name, node.MocapQoS()))(f.t))
	}
	return all
}

// drawn is the randomness of a soak.
func drawn() *rand.Rand { return rand.New(rand.NewPCG(5, 6)) }
