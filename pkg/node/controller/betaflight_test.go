package controller

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node/autopilottest"
)

// behindBetaflight is a controller with the topic command, and the bridge to a board that does not say where it is.
func behindBetaflight(t *testing.T, at so3.Vec3) (*harness, *autopilottest.Betaflight) {
	h := newHarness(t, "-p", "command_interface:=betaflight", "-p", "bundle_file:="+path("a.vnd"), "-p",
		"autostart:=true", "-p", "autopilot_namespace:=/fcu")
	h.trackedRobot(t, at, posctl)
	b := must(autopilottest.NewBetaflight(h.n, "/fcu/", "/command"))(t)
	saying(t, b.Say)
	eventually(t, "a tick", func() bool { return h.c.ticking() && len(h.steps) > 10 })
	return h, b
}

// stage waits for one of a step, with a guard that a busy machine tripped reset.
func (h *harness) stage(what string, so func(guard.Stage) bool) {
	h.t.Helper()
	eventually(h.t, what, func() bool {
		s := guard.Stage((<-h.steps).GuardState)
		if s.HoldsAuthority() {
			_ = h.c.resetGuard()
		}
		return so(s)
	})
}

func notOffboard(s guard.Stage) bool { return s == guard.NotOffboard }

// An operator gives over, takes over in flight and gives over again; then the bridge's state ends, which nobody takes
// for an operator.
func TestBetaflightOperatorTakesOver(t *testing.T) {
	h, b := behindBetaflight(t, so3.Vec3{Z: 1})
	b.Operator(true)
	h.stage("the pilot flies", notOffboard)
	eventually(t, "the diagnosis", func() bool { // of either level: a busy machine may have tripped the guard
		return strings.Contains((<-h.status).Message, "commands are not followed")
	})
	if err := h.c.arm(context.Background()); err == nil || !strings.Contains(err.Error(), autopilottest.ArmingRefused) {
		t.Errorf("%v, expected the bridge's words", err)
	}
	for range 2 {
		b.Operator(false)
		h.stage("the policy flies", guard.Stage.PolicyFlies)
		b.Operator(true)
		h.stage("the pilot flies", notOffboard)
		if err := h.c.disarm(context.Background()); err == nil || !strings.Contains(err.Error(), "~/land first") {
			t.Errorf("disarmed under a pilot: %v", err)
		}
	}
	b.Operator(false)
	h.stage("the policy flies", guard.Stage.PolicyFlies)
	if err := h.c.disarm(context.Background()); err == nil || !strings.Contains(err.Error(), "~/land first") {
		t.Errorf("disarmed in the air: %v", err)
	}
	b.Mute(true)
	for end := time.Now().Add(silence + time.Second); time.Now().Before(end); {
		if notOffboard(guard.Stage((<-h.steps).GuardState)) {
			t.Fatal("an unheard bridge counts as a pilot")
		}
	}
	if _, age := h.c.autopilot().lastReport(); age < silence {
		t.Errorf("its state is %v old", age)
	}
	b.Operator(true)
	b.Mute(false)
	h.stage("the pilot flies", notOffboard)
}

// A robot that stands is armed: the guard has it stand, and nothing but the least thrust goes out.
func TestBetaflightArmsOnTheGround(t *testing.T) {
	h, b := behindBetaflight(t, so3.Vec3{Z: 0.03})
	h.stage("a robot that is not armed", notOffboard)
	if err := h.c.arm(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := b.State(); !s.Armed {
		t.Errorf("%+v", s)
	}
	h.stage("the robot stands", func(s guard.Stage) bool { return s == guard.Off })
	least := h.c.params.Load().Limits.MinThrust
	eventually(t, "the least thrust", func() bool {
		return math.Abs((<-h.steps).CommandSent[0]-least) < 1e-9
	})
	if err := h.c.disarm(context.Background()); err != nil || b.State().Armed {
		t.Errorf("%v, armed: %v", err, b.State().Armed)
	}
}

func TestBetaflightIsNoAutopilotThatLands(t *testing.T) {
	p := defaults(t)
	p.CommandInterface = bridge.Betaflight
	if p.autopilotLands() {
		t.Error("its failsafe, which drops the robot, counts as a landing")
	}
	if topic, typeName := p.CommandTopic(); topic != "command" || typeName != bridge.TypeThrustRates {
		t.Errorf("%s, %s", topic, typeName)
	}
	if err := p.Check(); err != nil { // hover_throttle is the bridge's
		t.Error(err)
	}
}

// A board is disarmed after a landing.
func TestBetaflightIsDisarmedAfterItsLanding(t *testing.T) {
	h, b := behindBetaflight(t, so3.Vec3{Z: 0.03})
	if err := h.c.arm(context.Background()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the robot stands", h.c.landed)
	h.c.disarmLanded()
	if b.State().Armed {
		t.Error("armed, after its landing")
	}
}

// A landing that no state shows is one, too; not where a fresh one has the robot in the air, or it takes off again.
func TestLandedWhereNoStateSaysOtherwise(t *testing.T) {
	p := defaults(t)
	for _, c := range []struct {
		stage  guard.Stage
		height float64
		age    int64 // ns
		stands bool
	}{
		{guard.Off, 0.03, 1e7, true}, {guard.Off, 1, 2e9, true}, {guard.Off, 1, 1e7, false},
		{guard.Hold, 0.03, 1e7, false}, {guard.NotOffboard, 0.03, 1e7, false},
	} {
		k := control.TickRecord{Stage: c.stage, Stamp: 5e9, State: quad.State{P: so3.Vec3{Z: c.height}}}
		if got := standsAt(&k, k.Stamp+c.age, &p.Guard); got != c.stands {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
