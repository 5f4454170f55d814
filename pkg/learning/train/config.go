package train

import (
	"errors"
	"fmt"
)

// Config of a policy's training.
type Config struct {
	Hidden int `param:"hidden" default:"128" min:"1" max:"1024" doc:"units of each hidden layer"`
	Layers int `param:"layers" default:"2" min:"1" max:"8" doc:"hidden layers"`

	Pretrain Pretrain `param:"pretrain" doc:"imitation of a teacher that sees positions, before the training of a policy that sees features"`

	Latent int `param:"latent" default:"12" min:"0" max:"64" doc:"latent that a policy trained without a model leaves space for"`

	Envs     int     `param:"envs" default:"64" min:"1" max:"65536" doc:"environments rolled out at once"`
	Horizon  int     `param:"horizon" default:"75" min:"1" max:"1000" unit:"steps" doc:"length of an episode"`
	Epochs   int     `param:"epochs" default:"300" min:"1" max:"1e6" doc:"Adam updates, one an epoch; from nothing, vnd train and the loop take 1000 where it is not set"`
	Rate     float64 `param:"rate" default:"0.007" min:"1e-7" max:"1" doc:"learning rate of Adam, falling along a cosine"`
	Warmup   float64 `param:"warmup" default:"0.05" min:"0" max:"1" doc:"share of the epochs in which the rate rises"`
	Clip     float64 `param:"clip" default:"0.3" min:"0" max:"1e6" doc:"greatest norm of the gradient; 0 does not clip"`
	Discount float64 `param:"discount" default:"0.99" min:"0.5" max:"1" doc:"γ per step"`
	Flights  int     `param:"flights" default:"10" min:"0" max:"1000" doc:"how often the policy is flown in training to keep the best; 0 keeps the last"`

	ResidualGradient bool    `param:"residual_gradient" was:"through" json:"Through" default:"false" doc:"gradients flow through the learned residual"`
	BankShare        float64 `param:"bank_share" was:"bank" json:"Bank" default:"0.0" min:"0" max:"1" doc:"share of episodes under a latent of the buffer, re-encoded; the others under a sample of the model's latent prior"`
	Jitter           float64 `param:"jitter" default:"0.0" min:"0" max:"3" doc:"spread by which the policy sees its latent wrong, in each episode"`
	SwitchShare      float64 `param:"switch_share" was:"change" json:"Change" default:"0.4" min:"0" max:"1" doc:"share of episodes whose condition changes in mid-episode; the policy's latent follows within the encoder's window"`
	Wind             float64 `param:"wind" default:"0.0" min:"0" max:"20" unit:"m/s²" doc:"spread of a constant acceleration in a learned model that the policy is not given"`
	BFloat16         bool    `param:"bfloat16" json:"Reduced" default:"true" doc:"products between hidden layers in bfloat16 while training, where kernel and processor have them; a policy flies and is judged in float32"`
	Workers          int     `param:"workers" default:"0" min:"0" max:"1024" doc:"threads; 0 takes all; the result does not depend on it"`
}

// check refuses what the ranges allow and no training can run with.
func (c *Config) check(latent, bank int) error {
	if c.Envs < 1 || c.Horizon < 1 || c.Epochs < 1 || c.Layers < 1 {
		return errors.New("envs, horizon, epochs and layers must be at least 1")
	}
	if bank > 0 && (latent == 0 || bank%latent != 0) {
		return fmt.Errorf("a bank of %d numbers is not of latents of %d", bank, latent)
	}
	return nil
}

// Widths are those of the hidden layers.
func (c *Config) Widths() []int {
	h := make([]int, c.Layers)
	for i := range h {
		h[i] = c.Hidden
	}
	return h
}
