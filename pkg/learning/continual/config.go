package continual

import (
	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
)

// Config of the continual loop.
type Config struct {
	Fit      Fit          `param:"fit" doc:"the dynamics model"`
	Policy   train.Config `param:"policy" doc:"the policy's improvement in the model"`
	FineTune FineTune     `param:"policy_again" doc:"what is other where the policy was improved in a model before"`
	Gate     gate.Config  `param:"gate" doc:"what a candidate must show"`
	Stride   int          `param:"latent_stride" default:"10" min:"1" max:"10000" unit:"rows" doc:"rows from one re-encoded latent of the buffer to the next"`
	Least    float64      `param:"least_data" default:"20.0" min:"1" max:"1e6" unit:"s" doc:"flight time that a first model takes"`
}

// FineTune is what a policy's training has that goes on from one in another model. Later models answer to states and
// commands more than the first does: what is downhill under the physics prior alone, with the residual taken as a
// constant, is then no longer downhill for long steps (docs/decisions/0011-gradient-through-the-residual.md).
type FineTune struct {
	Epochs  int     `param:"epochs" default:"200" min:"1" max:"1e6" doc:"Adam updates, one an epoch"`
	Rate    float64 `param:"rate" default:"0.001" min:"1e-7" max:"1" doc:"learning rate of Adam, falling along a cosine"`
	Through bool    `param:"through" default:"true" doc:"gradients flow through the learned residual"`
}

// training is that of a policy; again says that it was improved in a model before.
func (c *Config) training(again bool) train.Config {
	t := c.Policy
	if again {
		t.Epochs, t.Rate, t.Through = c.FineTune.Epochs, c.FineTune.Rate, c.FineTune.Through
	}
	return t
}

// Fit is what a round changes of a fit's configuration: the first fit begins
// anew, those that follow go on from the model of before.
type Fit struct {
	First   First   `param:"first" doc:"the first fit"`
	Again   Again   `param:"again" doc:"the fits that go on from the model of before"`
	Steps   int     `param:"steps" default:"20" min:"1" max:"200" unit:"steps" doc:"length of the rollouts that are compared"`
	Jitter  float64 `param:"gain_jitter" default:"0.0" min:"0" max:"1" doc:"spread of the thrust gain that contexts are trained under"`
	MMD     float64 `param:"mmd" default:"0.1" min:"0" max:"100" doc:"λ_mmd"`
	Huber   float64 `param:"huber" default:"0.3" min:"0.01" max:"1000" doc:"δ of the Huber loss, in units of the normalised error: where the wind turns within a rollout nothing in its window shows it, and such rollouts have the greatest errors"`
	Reduced bool    `param:"bfloat16" default:"true" doc:"products between hidden layers in bfloat16 while training, where kernel and processor have them"`

	Reconstruction float64    `param:"reconstruction" default:"0.02" min:"0" max:"100" doc:"λ_rec"`
	Model          fit.Model  `param:"model" doc:"sizes of the nets"`
	Prior          fit.Prior  `param:"prior" doc:"physics under the residual"`
	Inputs         fit.Inputs `param:"inputs" doc:"what the nets see"`
}

// First is the budget of a fit that begins anew.
type First struct {
	Updates int     `param:"updates" default:"300" min:"1" max:"1e7" doc:"Adam updates"`
	Batch   int     `param:"batch" default:"64" min:"2" max:"65536" doc:"contexts of an update"`
	Rate    float64 `param:"rate" default:"0.002" min:"1e-7" max:"1" doc:"peak learning rate"`
}

// Again is the budget of a fit that goes on from another.
type Again struct {
	Updates int     `param:"updates" default:"200" min:"1" max:"1e7" doc:"Adam updates"`
	Batch   int     `param:"batch" default:"64" min:"2" max:"65536" doc:"contexts of an update"`
	Rate    float64 `param:"rate" default:"0.001" min:"1e-7" max:"1" doc:"peak learning rate"`
}

// FirstFit is the configuration of a fit that begins anew.
func (c *Config) FirstFit() fit.Config { return c.fit(false) }

// fit is the configuration of a fit.
func (c *Config) fit(warm bool) fit.Config {
	var v fit.Config
	param.Default(&v)
	b := c.Fit.First
	if warm {
		b = First(c.Fit.Again)
		v.Loss.MMDStart, v.Loss.MMDRamp = 0, 0.001 // the conditions are apart already
	}
	v.Train.Updates, v.Train.Batch, v.Train.Rate = b.Updates, b.Batch, b.Rate
	v.Train.Passes, v.Train.Validation, v.Train.GainJitter = 1e5, 0, c.Fit.Jitter
	v.Train.Reduced, v.Loss.Huber = c.Fit.Reduced, c.Fit.Huber
	v.Loss.Steps, v.Loss.MMD, v.Loss.Reconstruction = c.Fit.Steps, c.Fit.MMD, c.Fit.Reconstruction
	v.Model, v.Prior, v.Inputs = c.Fit.Model, c.Fit.Prior, c.Fit.Inputs
	return v
}
