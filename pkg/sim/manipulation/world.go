package manipulation

import (
	_ "embed"
	"fmt"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/arm"
	"vnd/pkg/sim/mujoco"
)

// MuJoCo is the name of the simulator that is not ours.
const MuJoCo = "mujoco"

// World is an arm in a simulator, with end stops at its joints' limits. It is for one goroutine.
type World[F kernel.Float] interface {
	// Set makes the arm what it truly is. It refuses, in words, what no arm can be.
	Set(truth arm.Robot) error
	// Step lets the truth's Dt pass under torques a[A]: s[S] is where that begins, and then where it ends.
	Step(s, a []F) error
	Close()
}

// NewWorld returns an arm in our own dynamics, or in the simulator that is named. Set comes before Step.
func NewWorld[F kernel.Float](simulator string) (World[F], error) {
	switch simulator {
	case "":
		return NewOwn[F](), nil
	case MuJoCo:
		return newForeign[F]()
	}
	return nil, fmt.Errorf("no simulator %q of an arm, expected %q or none", simulator, MuJoCo)
}

// refuse refuses torques that are not finite, which MuJoCo would take for none.
func refuse[F kernel.Float](a []F) error {
	for j, torque := range a {
		if torque*0 != 0 {
			return fmt.Errorf("the torque of joint %d is %g N·m, expected a finite number", j+1, torque)
		}
	}
	return nil
}

// own implements World by the dynamics of package arm.
type own[F kernel.Float] struct {
	arm   *arm.Arm[F]
	links []arm.Link
	none  []F
}

// NewOwn returns an arm in our own dynamics.
func NewOwn[F kernel.Float]() World[F] {
	return &own[F]{links: arm.Panda().Links, none: make([]F, 2*arm.Joints)}
}

func (w *own[F]) Set(truth arm.Robot) error {
	if err := truth.Check(); err != nil {
		return err
	}
	w.arm = arm.New[F](truth)
	return nil
}

func (w *own[F]) Step(s, a []F) error {
	if err := refuse(a); err != nil {
		return err
	}
	w.arm.Step(1, s, a, w.none, s)
	for j, l := range w.links {
		if s[j]*0 != 0 {
			return fmt.Errorf("the angle of joint %d is without bounds", j+1)
		}
		if q := min(max(s[j], F(l.Min)), F(l.Max)); q != s[j] {
			s[j], s[arm.Joints+j] = q, 0
		}
	}
	return nil
}

func (w *own[F]) Close() {}

// panda is the model: its joints and motors are in the order of the arm's.
//
//go:embed panda.xml
var panda string

// foreign implements World by MuJoCo: its integrator, its friction, and its end stops, which give way a little.
type foreign[F kernel.Float] struct {
	mujoco                                   *mujoco.Worlds
	mass, inertia, at, friction, damping, dt mujoco.Columns
	payload                                  int // number of the body
	steps                                    int
}

func newForeign[F kernel.Float]() (World[F], error) {
	w := &foreign[F]{}
	var err error
	if w.mujoco, err = mujoco.New(panda, 1, 1); err != nil {
		return nil, err
	}
	if err := w.find(); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// find finds what is set in the model.
func (w *foreign[F]) find() (err error) {
	for _, p := range []struct {
		field string
		to    *mujoco.Columns
	}{{"body_mass", &w.mass}, {"body_inertia", &w.inertia}, {"body_pos", &w.at}, {"dof_frictionloss", &w.friction},
		{"dof_damping", &w.damping}, {"opt.timestep", &w.dt}} {
		if *p.to, err = w.mujoco.Parameter(p.field); err != nil {
			return err
		}
	}
	w.payload, err = w.mujoco.Body("payload")
	return err
}

func (w *foreign[F]) Set(truth arm.Robot) error {
	if err := truth.Check(); err != nil {
		return err
	}
	at := arm.Panda().Tool.Add(truth.At)
	w.mass.Of(0)[w.payload] = truth.Payload
	clear(w.inertia.Of(0)[3*w.payload:][:3]) // a point
	copy(w.at.Of(0)[3*w.payload:], []float64{at.X, at.Y, at.Z})
	for j := range arm.Joints {
		w.friction.Of(0)[j], w.damping.Of(0)[j] = truth.Friction, truth.Damping
	}
	w.dt.Of(0)[0], w.steps = truth.Dt/float64(truth.Steps), truth.Steps
	return w.mujoco.Reset([]int32{0})
}

func (w *foreign[F]) Step(s, a []F) error {
	if err := refuse(a); err != nil {
		return err
	}
	q, v := w.mujoco.Positions.Of(0), w.mujoco.Velocities.Of(0)
	for j, torque := range a {
		q[j], v[j], w.mujoco.Controls.Of(0)[j] = float64(s[j]), float64(s[arm.Joints+j]), float64(torque)
	}
	err := w.mujoco.Step(w.steps)
	for j := range a {
		s[j], s[arm.Joints+j] = F(q[j]), F(v[j])
	}
	return err
}

func (w *foreign[F]) Close() { w.mujoco.Close() }
