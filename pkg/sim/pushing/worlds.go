package pushing

import (
	_ "embed"
	"fmt"
	"math"

	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/sim/mujoco"
)

// table is the model: the joints of its box are those of a free body, then come the tool's two.
//
//go:embed table.xml
var table string

// Dt is how long a command is held, s; steps is MuJoCo's in that time.
const (
	Dt    = pushlearning.Dt
	steps = 20
)

// Worlds are boxes on tables of MuJoCo, each under a condition of its own. They are for one goroutine.
type Worlds struct {
	mujoco                                   *mujoco.Worlds
	mass, inertia, centre, friction, gravity mujoco.Columns
	box, contact                             int // numbers of the body and of its contact with the table
}

// NewWorlds makes n worlds under the nominal condition, which as many threads step.
func NewWorlds(n, threads int) (w *Worlds, err error) {
	w = &Worlds{}
	if w.mujoco, err = mujoco.New(table, n, threads); err != nil {
		return nil, err
	}
	if err = w.prepare(n); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// prepare finds what is written to and read, and begins the worlds.
func (w *Worlds) prepare(n int) (err error) {
	for _, p := range []struct {
		field string
		to    *mujoco.Columns
	}{{"body_mass", &w.mass}, {"body_inertia", &w.inertia}, {"body_ipos", &w.centre}, {"pair_friction", &w.friction},
		{"opt.gravity", &w.gravity}} {
		if *p.to, err = w.mujoco.Parameter(p.field); err != nil {
			return err
		}
	}
	if w.box, err = w.mujoco.Body("box"); err != nil {
		return err
	}
	if w.contact, err = w.mujoco.Pair("table"); err != nil {
		return err
	}
	for i := range n {
		if err := w.Begin(i, Nominal, &pusher.State{Tool: [2]float64{-0.15, 0}}); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the worlds.
func (w *Worlds) Close() { w.mujoco.Close() }

// Size is how many worlds there are.
func (w *Worlds) Size() int { return w.mujoco.Size() }

// Begin begins world i anew, at rest: of the state, places alone count.
func (w *Worlds) Begin(i int, c Condition, s *pusher.State) error {
	if err := c.Check(); err != nil {
		return fmt.Errorf("world %d: %w", i, err)
	}
	inertia, gravity, friction := c.inertia(), c.gravity(), w.friction.Of(i)[5*w.contact:]
	w.mass.Of(i)[w.box] = c.Mass
	copy(w.inertia.Of(i)[3*w.box:], inertia[:])
	copy(w.centre.Of(i)[3*w.box:], c.Centre[:])
	copy(w.gravity.Of(i), gravity[:])
	friction[0], friction[1] = c.Friction, c.Friction
	if err := w.mujoco.Reset([]int32{int32(i)}); err != nil {
		return err
	}
	q := w.mujoco.Positions.Of(i)
	sin, cos := math.Sincos(s.Box[2] / 2)
	q[0], q[1], q[2], q[3], q[6] = s.Box[0], s.Box[1], pusher.Height/2, cos, sin
	copy(q[7:], s.Tool[:])
	return nil
}

// Step lets Dt pass in every world under commands, [N], cut to what the tool can do.
func (w *Worlds) Step(commands []pusher.Command) error {
	for i := range commands {
		to := w.mujoco.Controls.Of(i)
		for k, v := range commands[i] {
			to[k] = min(max(v, -pusher.MostSpeed), pusher.MostSpeed)
		}
	}
	return w.mujoco.Step(steps)
}

// State reads the state of world i.
func (w *Worlds) State(i int, s *pusher.State) {
	q, v := w.mujoco.Positions.Of(i), w.mujoco.Velocities.Of(i)
	heading := math.Atan2(2*(q[3]*q[6]+q[4]*q[5]), 1-2*(q[5]*q[5]+q[6]*q[6]))
	s.Box = [3]float64{q[0], q[1], heading}
	s.BoxVelocity = [3]float64{v[0], v[1], v[5]}
	s.Tool = [2]float64{q[7], q[8]}
	s.ToolVelocity = [2]float64{v[6], v[7]}
}
