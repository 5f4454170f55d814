package sim

import (
	"errors"
	"fmt"
	"os"

	"vnd/pkg/core/param"
)

// World is everything that is true of a robot and its surroundings. Its parameters stand in a ROS 2 parameter file
// under the node name "world"; those that a file leaves out keep their defaults, which are the calm world.
type World struct {
	Step       float64    `param:"step" default:"0.001" min:"0.0001" max:"0.001" unit:"s" doc:"integration step"`
	Airframe   Airframe   `param:"airframe"`
	Motor      Motor      `param:"motor"`
	RateLoop   RateLoop   `param:"rate_loop"`
	Drag       Drag       `param:"drag"`
	Ground     Ground     `param:"ground"`
	Link       Link       `param:"link"`
	Battery    Battery    `param:"battery"`
	Gusts      Gusts      `param:"gusts"`
	Fans       Fans       `param:"fans"`
	Neighbour  Neighbour  `param:"neighbour"`
	Mocap      Mocap      `param:"mocap"`
	Imu        Imu        `param:"imu"`
	Conditions Conditions `param:"conditions"`
	Schedule   Schedule   `param:"schedule"`
}

// Node is the node name of a world's block in a parameter file.
const Node = "world"

// Default returns the calm world.
func Default() (w World) {
	param.Default(&w)
	return w
}

// Load reads the world in the file at path. What is wrong in it is said in one line with file, line and parameter.
func Load(path string) (World, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return World{}, err
	}
	return Parse(path, data)
}

// Parse is Load on data that is called name in errors.
func Parse(name string, data []byte) (World, error) {
	w := Default()
	if err := param.Parse(name, data, Node, &w); err != nil {
		return World{}, err
	}
	err := w.Check()
	if f, ok := errors.AsType[*fault](err); ok {
		if line, parameter := lineOf(data, f.params); line > 0 {
			return World{}, fmt.Errorf("%s:%d: %w", name, line, faulty(parameter, "%s", f.text))
		}
		return World{}, fmt.Errorf("%s: %w", name, err)
	}
	return w, nil
}

// fault is what is wrong with a world whose parameters are each in range.
type fault struct {
	params []string // that are involved; a file is blamed for the first of them that it sets
	text   string
}

func (f *fault) Error() string { return fmt.Sprintf("parameter %q: %s", f.params[0], f.text) }

func faulty(parameter, format string, args ...any) error {
	return &fault{[]string{parameter}, fmt.Sprintf(format, args...)}
}

// Check reports the first thing that is impossible in a world.
func (w *World) Check() error {
	for _, check := range []func() error{
		w.Airframe.check, w.RateLoop.check, w.Drag.check, w.Ground.check, w.Fans.check, w.Neighbour.check,
		w.Battery.check, w.Conditions.check, w.checkFan, w.checkSchedule, w.checkThrust,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkThrust refuses an airframe that cannot lift itself in every condition.
func (w *World) checkThrust() error {
	for _, c := range w.Conditions.rows() {
		mass := w.Airframe.Mass + c.payload.mass
		lift := 4 * w.Motor.Thrust
		if c.cut.rotor > 0 {
			cut := 1.
			if c.cut.also > 0 {
				cut++
			}
			lift = w.Motor.Thrust * (4 - cut*(1-c.cut.thrust))
		}
		if ratio := lift / (mass * gravity); ratio <= 1 {
			return &fault{
				[]string{"airframe.mass", "motor.thrust", "conditions.payload", "conditions.cut_thrust",
					"conditions.cut_rotor"},
				fmt.Sprintf("%.4g kg under at most %.4g N of thrust in condition %q: thrust-to-weight %.2f, "+
					"expected > 1",
					mass, lift, c.name, ratio),
			}
		}
	}
	return nil
}

// length checks a list that must have n elements.
func length(name string, got, n int) error {
	if got == n {
		return nil
	}
	return faulty(name, "%d elements, expected %d", got, n)
}
