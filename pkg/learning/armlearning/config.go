package armlearning

import (
	"context"
	"fmt"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Config of fits and trainings of an arm.
type Config struct {
	Fit    Fit          `param:"fit" doc:"the dynamics model"`
	Base   train.Config `param:"base" defaults:"latent=2 horizon=50 rate=0.002" doc:"training of the first policy, in the prior"`
	Policy train.Config `param:"policy" defaults:"latent=2 horizon=50 rate=6e-4 residual_gradient=true" doc:"training of the policy in the learned model"`
	Gate   Gate         `param:"gate" read_only:"true" doc:"gate: what a candidate must show before it moves the arm"`
}

// Gate configures gates of an arm, which errs by millimetres.
type Gate struct {
	judged `defaults:"shadow.seconds=4 rate=100"`
}

type judged struct {
	gate.Config `defaults:"tolerance=1e-4 relative_tolerance=0.1 crash_error=0.5 first_error=0.05"`
}

// Fit configures fits.
type Fit struct {
	sized     `defaults:"loss.steps=5 loss.reconstruction=0 train.updates=3000 train.passes=30 train.rate=0.004"`
	WarmStart continual.WarmStart `param:"warm_start" defaults:"updates=1000 batch=128" doc:"budget of a fit that goes on from that of the last round"`
}

// sized is a fit of small nets. A reconstruction would keep in the latent how the arm moves, beside what it carries.
type sized struct {
	fit.Config `defaults:"model.latent=2 model.encoder_dense=64 model.encoder_hidden=64 model.hidden=128"`
}

// Default returns the defaults.
func Default() (c Config) {
	param.Default(&c)
	return c
}

// NewPolicy is one with weights to be drawn, or a copy of another.
func NewPolicy(c *train.Config, task robot.Task[float32], from *vnd.Actor[float32]) (*vnd.Actor[float32], error) {
	latent, hidden, middle, half := c.Latent, c.Widths(), make([]float32, arm.Joints), Torques
	if from != nil {
		latent, hidden, middle, half = from.Latent, from.Net.Hidden, from.Middle, from.Half
	}
	p, err := vnd.NewActor(task.Size(), latent, middle, half, hidden)
	if err != nil {
		return nil, err
	}
	if from != nil {
		if len(p.Net.Params) != len(from.Net.Params) {
			return nil, fmt.Errorf("a policy that sees %d numbers, expected %d", from.Size(), task.Size())
		}
		copy(p.Net.Params, from.Net.Params)
		p.Norm = from.Norm
	}
	return p, nil
}

// Train trains a policy in a world: from nothing, or on from another, which stays as it is.
func Train(ctx context.Context, c train.Config, w train.World[float32], from *vnd.Actor[float32],
	o train.Options) (*vnd.Actor[float32], error) {
	p, err := NewPolicy(&c, o.Task, from)
	if err != nil {
		return nil, err
	}
	o.Actor, o.New = p, from == nil
	_, err = train.Run(ctx, c, w, Dt, o)
	return p, err
}

// PriorWorld is that in which first policies are trained.
func PriorWorld() train.World[float32] { return &train.Prior[float32]{Nominal: Prior.System()} }

// Pack makes a bundle of a model and a policy.
func Pack(m *vnd.Model[float32], p *vnd.Actor[float32]) (*bundle.Bundle, error) {
	return vnd.Pack(m, Prior, p, armcontrol.Task)
}
