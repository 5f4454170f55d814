package control

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/motors"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
)

// A policy that commands motors flies while body rates come. Without them the guard takes over, and keeps to the limits
// of each motor.
func TestMotorsNeedBodyRates(t *testing.T) {
	var a rotors.Airframe
	param.Default(&a)
	l := newLoop(t, defaults())
	if err := l.CommandMotors(&a); err != nil {
		t.Fatal(err)
	}
	policy, err := LoadPolicy(readBundle(t, "motors.vnd"), rotors.Name, 50)
	if err != nil {
		t.Fatal(err)
	}
	l.SetPolicy(policy)
	l.SetReference(taskReference(t, "hover"))
	now := int64(1e9)
	step := func(measured bool) {
		now += 20e6
		p := so3.Vec3{X: 1e-4 * math.Sin(float64(now)), Z: 1}
		l.AddSample(&Sample{Stamp: now, State: quad.State{P: p, Q: so3.Identity()}})
		if measured {
			l.SetRates(now, so3.Vec3{})
		}
		if _, ok := l.Tick(now); !ok {
			return
		}
		for i, u := range l.Decision().Motors {
			if !(math.Abs(u-a.Hover()) < 0.1) {
				t.Fatalf("motor %d of a robot that hovers is at %g", i, u)
			}
		}
	}
	for range 50 {
		step(true)
	}
	if s := l.Guard().Stage(); s != guard.Policy {
		t.Fatalf("with body rates: %v, %v", s, l.Guard().Tripped())
	}
	for range 5 {
		step(false)
	}
	if s, c := l.Guard().Stage(), l.Guard().Tripped(); s != guard.Hold || c != guard.Unmeasured {
		t.Errorf("without body rates: %v, %v", s, c)
	}
}

// Motors whose commands nobody follows do not turn the robot: what they ask for says nothing of its body rates.
func TestMotorsThatNobodyFollowsTurnNothing(t *testing.T) {
	var a rotors.Airframe
	param.Default(&a)
	for name, c := range map[string]struct {
		d     Decision
		turns bool
	}{
		"followed": {Decision{Offboard: true}, true}, "not followed": {Decision{}, false},
		"silent": {Decision{Offboard: true, Silent: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, defaults())
			if err := l.CommandMotors(&a); err != nil {
				t.Fatal(err)
			}
			for k := range int64(5) { // no gyroscope
				d := c.d
				d.Sent = quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{X: 3}}
				l.rotors.decide((k+1)*20e6, nil, &d)
			}
			if w := l.rotors.rates(6 * 20e6); (w.X > 0.5) != c.turns {
				t.Errorf("body rates of %v rad/s are believed", w)
			}
		})
	}
}

// Motors are the policy's where its command is sent as it is, and come of what is sent elsewhere.
func TestMotorsOfALimitedCommand(t *testing.T) {
	var a rotors.Airframe
	param.Default(&a)
	for stage, most := range map[guard.Stage]bool{guard.Policy: true, guard.Limited: false, guard.Hold: false} {
		l := newLoop(t, defaults())
		if err := l.CommandMotors(&a); err != nil {
			t.Fatal(err)
		}
		var d Decision
		for k := range int64(20) {
			d = Decision{Offboard: true, Stage: stage, Sent: quad.Command{Thrust: quad.Gravity}}
			l.rotors.decide((k+1)*20e6, &Request{Motors: motors.Command{1, 1, 1, 1}}, &d)
		}
		for i, u := range d.Motors {
			if (u > 0.65) != most || !most && math.Abs(u-a.Hover()) > 0.05 {
				t.Errorf("%v: motor %d is at %g", stage, i, u)
			}
		}
	}
}

func TestBundlesOfAnotherKindOfCommandAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ bundle, robot, want string }{
		"motors elsewhere": {"motors.vnd", quadrotor.Name,
			"commands four rotors, expected a policy of thrust and body rates: command_interface rotors alone"},
		"rates by motors": {"a.vnd", rotors.Name, `command_interface rotors expects "rotors": vnd train`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := LoadPolicy(readBundle(t, c.bundle), c.robot, 50); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, expected %q", err, c.want)
			}
		})
	}
}
