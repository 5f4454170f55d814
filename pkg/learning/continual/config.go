package continual

import (
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train/quadtrain"
)

// Config of the continual loop.
type Config struct {
	Fit      Fit              `param:"fit" defaults:"train.updates=300 train.batch=64 train.passes=1e5 train.validation=0 train.gain_jitter=0 loss.steps=5 loss.huber=0.3" moved:"first.updates=train.updates first.batch=train.batch first.rate=train.rate gain_jitter=train.gain_jitter bfloat16=train.bfloat16 steps=loss.steps huber=loss.huber mmd=loss.mmd reconstruction=loss.reconstruction" doc:"the dynamics model"`
	Policy   quadtrain.Config `param:"policy" defaults:"envs=24 epochs=900" doc:"training of the policy in the learned model, in each round"`
	FineTune FineTune         `param:"fine_tune" was:"policy_again" doc:"budget of that training where the policy was trained in a learned model before"`
	Gate     gate.Config      `param:"gate" read_only:"true" doc:"gate: what a candidate must show before it flies"`
	Seconds  float64          `param:"seconds_per_round" default:"0.0" min:"0" max:"3600" unit:"s" doc:"time for a round on this machine: it does as many updates and epochs as fit, at least a tenth; 0: all of them"`
	Stride   int              `param:"latent_stride" default:"10" min:"1" max:"10000" unit:"rows" doc:"rows from one re-encoded latent of the buffer to the next"`
	Data
}

// Data are how much of it a learner takes.
type Data struct {
	Least   float64 `param:"least_data" default:"20.0" min:"1" max:"1e6" unit:"s" doc:"flight time that a first model takes"`
	MaxRows int     `param:"max_rows" default:"500000" min:"1000" max:"1e9" unit:"rows" read_only:"true" doc:"rows to learn from: half newest, half balanced over conditions"`
}

// Needs are those of rounds.
func (d *Data) Needs() *Data { return d }

// Fit configures the fits of all rounds. The first is a cold start. Where the wind turns within a rollout its window
// does not show it; such rollouts have the greatest errors, so δ of the Huber loss is smaller than for recorded
// flights.
type Fit struct {
	fit.Config
	WarmStart WarmStart `param:"warm_start" was:"again" doc:"budget of a fit that goes on from that of the last round"`
}

// WarmStart is the budget of a fit that goes on from another.
type WarmStart struct {
	Updates int     `param:"updates" default:"200" min:"1" max:"1e7" doc:"Adam updates"`
	Batch   int     `param:"batch" default:"64" min:"2" max:"65536" doc:"contexts of an update"`
	Rate    float64 `param:"rate" default:"0.001" min:"1e-7" max:"1" doc:"peak learning rate"`
}

// FineTune is the budget of a policy's training that goes on from another model's. Later models answer to states and
// commands more than the first does. The gradient of the physics prior alone, with the residual taken as a constant,
// then no longer points downhill (docs/decisions/0011-gradient-through-the-residual.md).
type FineTune struct {
	Epochs           int     `param:"epochs" default:"1200" min:"1" max:"1e6" doc:"Adam updates, one an epoch"`
	Rate             float64 `param:"rate" default:"0.003" min:"1e-7" max:"1" doc:"learning rate of Adam, falling along a cosine"`
	ResidualGradient bool    `param:"residual_gradient" was:"through" json:"Through" default:"true" doc:"gradients flow through the learned residual"`
}

// training is the configuration of a policy's training. fineTune is set where it was improved in a model before.
func (c *Config) training(fineTune bool) quadtrain.Config {
	t := c.Policy
	if fineTune {
		t.Epochs, t.Rate, t.ResidualGradient = c.FineTune.Epochs, c.FineTune.Rate, c.FineTune.ResidualGradient
	}
	return t
}

// fitting is the configuration of a fit; a warm start goes on from the model of the round before.
func (c *Config) fitting(warm bool) fit.Config {
	v := c.Fit.Config
	if warm {
		c.Fit.WarmStart.Apply(&v)
	}
	return v
}

// Apply has a fit go on from another.
func (w *WarmStart) Apply(v *fit.Config) {
	v.Train.Updates, v.Train.Batch, v.Train.Rate = w.Updates, w.Batch, w.Rate
	v.Loss.MMDStart, v.Loss.MMDRamp = 0, 0.001 // the conditions are apart already
}
