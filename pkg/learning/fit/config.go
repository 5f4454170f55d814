package fit

import "vnd/pkg/nn/nets"

// Config is everything that decides a fit besides its data, its seed and the kernel.
type Config struct {
	Model          Model          `param:"model" doc:"sizes of the nets of the dynamics model"`
	Prior          Prior          `param:"prior" doc:"physics under the residual"`
	Inputs         Inputs         `param:"inputs" doc:"input channels of the nets"`
	Heads          Heads          `param:"heads" doc:"outputs of the residual"`
	Loss           Loss           `param:"loss" doc:"loss of the fit"`
	Train          Train          `param:"train" doc:"training of the fit"`
	Smoothing      string         `param:"smoothing" default:"weighted" enum:"off,states,weighted" doc:"of poor flights: off takes measured states for true, states those found afterwards; weighted counts their variance"`
	BiasCorrection BiasCorrection `param:"bias_correction" was:"anchor" doc:"residual mean of the window, added along a rollout"`
}

// Model sizes the nets (paper, "Model and training parameters").
type Model struct {
	Context       int     `param:"context" default:"20" min:"2" max:"20" unit:"steps" doc:"rows of the context window that the encoder reads"`
	Latent        int     `param:"latent" default:"12" min:"0" max:"64" doc:"size of the latent z; 0 fits the control without a latent"`
	LatentDecay   float64 `param:"latent_decay" was:"latent_age" json:"LatentAge" default:"0.0" min:"0" max:"100" unit:"s" doc:"time constant with which the latent decays to the prior mean along a rollout; 0 holds it"`
	Encoder       string  `param:"encoder" default:"gru" enum:"gru,mlp" doc:"history encoder"`
	EncoderDense  int     `param:"encoder_dense" default:"128" min:"1" max:"1024" doc:"width of the per-row dense layer of the encoder"`
	EncoderHidden int     `param:"encoder_hidden" default:"128" min:"1" max:"1024" doc:"hidden state of the encoder"`
	Hidden        int     `param:"hidden" default:"256" min:"1" max:"2048" doc:"width of the residual's backbone"`
	Blocks        int     `param:"blocks" default:"2" min:"0" max:"8" doc:"FiLM blocks of the residual"`
	Film          bool    `param:"film" default:"true" doc:"condition the residual by FiLM; false concatenates z to its inputs"`
	DecoderHidden int     `param:"decoder_hidden" default:"128" min:"1" max:"1024" doc:"width of the auxiliary decoder"`
	Members       int     `param:"members" default:"1" min:"1" max:"8" doc:"residual nets of the ensemble, sharing encoder and decoder"`
}

// Prior is the physics under the residual.
type Prior struct {
	Enabled  bool   `param:"enabled" default:"true" doc:"physics prior under the residual; false learns the whole transition"`
	Frame    string `param:"frame" default:"body" enum:"body,world" doc:"frame of the residual and of the features"`
	Identify bool   `param:"identify" default:"true" doc:"identify the actuator (gains, delays, lags) from the flights; false takes it as ideal"`
}

// Inputs switches input channels of the nets.
type Inputs struct {
	Position    bool `param:"position" default:"false" doc:"position as an input of the residual (lets it memorise one trajectory)"`
	LastCommand bool `param:"last_command" default:"true" doc:"the last command as an input of the residual"`
	Actuator    bool `param:"actuator" default:"true" doc:"the lagged command as an input of residual and encoder"`
	Residuals   bool `param:"residuals" default:"true" doc:"one-step residuals of the prior in the encoder's rows"`
}

// Heads switches outputs of the residual.
type Heads struct {
	Position bool `param:"position" default:"true" doc:"residual head for position"`
	Velocity bool `param:"velocity" default:"true" doc:"residual head for velocity"`
	Rotation bool `param:"rotation" default:"true" doc:"residual head for the rotation vector, and for body rates where they are measured"`
}

// Loss weighs the objective L_dyn + λ_rec L_rec + λ_mmd MMD.
type Loss struct {
	Steps          int     `param:"steps" default:"50" min:"1" max:"200" unit:"steps" doc:"length of the rollouts that L_dyn compares; 1 is the paper's one-step loss"`
	Huber          float64 `param:"huber" default:"3.0" min:"0.01" max:"1000" doc:"δ of the Huber loss, in units of the normalised error"`
	Position       float64 `param:"position" default:"1.0" min:"0" max:"100" doc:"weight of position errors"`
	Velocity       float64 `param:"velocity" default:"1.0" min:"0" max:"100" doc:"weight of velocity errors"`
	Rotation       float64 `param:"rotation" default:"0.5" min:"0" max:"100" doc:"weight of attitude errors"`
	Reconstruction float64 `param:"reconstruction" default:"0.02" min:"0" max:"100" doc:"λ_rec, weight of the decoder's reconstruction of the window"`
	MMD            float64 `param:"mmd" default:"0.1" min:"0" max:"100" doc:"λ_mmd, final weight of the MMD between latents and N(0, I)"`
	MMDSigma       float64 `param:"mmd_sigma" default:"2.0" min:"0.05" max:"100" doc:"σ of the RBF kernel"`
	MMDStart       float64 `param:"mmd_start" default:"0.2" min:"0" max:"1" doc:"E₀, share of the training before the MMD sets in"`
	MMDRamp        float64 `param:"mmd_ramp" default:"0.3" min:"0.001" max:"1" doc:"E_ramp, share of the training over which it ramps up"`
}

// Train is the optimiser's budget and schedule.
type Train struct {
	Updates     int       `param:"updates" default:"6000" min:"1" max:"10000000" doc:"Adam updates"`
	Passes      float64   `param:"passes" default:"8.0" min:"0.01" max:"100000" doc:"bound on the updates by how often a context is drawn on average: a small buffer is learned by heart with more"`
	Minutes     float64   `param:"minutes" default:"4.5" min:"0.01" max:"100000" unit:"min" doc:"wall-clock bound: on a slow machine the schedule is compressed to end by then (and the result depends on the machine)"`
	Batch       int       `param:"batch" default:"128" min:"2" max:"65536" doc:"contexts per update"`
	Rate        float64   `param:"rate" default:"0.002" min:"1e-07" max:"1" doc:"peak learning rate of Adam, cosine to zero"`
	Warmup      float64   `param:"warmup" default:"0.02" min:"0" max:"0.5" doc:"share of the training over which the rate rises"`
	Clip        float64   `param:"clip" default:"1.0" min:"0.001" max:"1000000" doc:"bound on the global norm of the gradient"`
	WeightDecay float64   `param:"weight_decay" default:"0.01" min:"0" max:"10" doc:"decoupled weight decay"`
	Average     float64   `param:"average" default:"0.998" min:"0" max:"0.99999" doc:"decay of the exponential moving average of the weights that is kept"`
	Horizon     []float64 `param:"horizon" default:"0.1,0.2,0.5,1.0" min:"0.001" max:"1" doc:"curriculum: the rollout length as shares of loss.steps, over equal parts of the first 40 % of the training; the last holds to the end"`
	Validation  float64   `param:"validation" default:"0.1" min:"0" max:"0.5" doc:"share of the flights held out to choose the checkpoint (at least one when there are five)"`
	GainJitter  float64   `param:"gain_jitter" default:"0.15" min:"0" max:"1" doc:"spread (log-normal) of a random factor on each context's thrust commands, so that a new session's gain is read from the window"`
	Settle      float64   `param:"settle" default:"0.6" min:"0" max:"1" doc:"share of the schedule before which validation keeps no weights: few validation flights are noisy, and the rate is still high"`
	Patience    float64   `param:"patience" default:"0.2" min:"0.01" max:"1" doc:"share of the schedule without a better validation loss after which the training stops"`
	BFloat16    bool      `param:"bfloat16" json:"Reduced" default:"true" doc:"products between hidden layers in bfloat16 while training, where kernel and processor have them; validation and all predictions are in float32"`
	Workers     int       `param:"workers" default:"0" min:"0" max:"256" doc:"threads, at most one for every 32 contexts of the batch, and 16; 0 takes as many as there are cores; the result does not depend on it"`
}

// BiasCorrection is the correction for what the model leaves over in the window.
type BiasCorrection struct {
	Share float64 `param:"share" default:"0.5" min:"0" max:"1" doc:"share of the training rollouts that carry the residual mean of the window; 0 trains without"`
	Known float64 `param:"known" default:"0.25" min:"0" max:"1" doc:"weight of the residual mean in predictions where the condition is known; it rises to 1 with novelty"`
}

func (c *Config) nets() nets.Config {
	m := c.Model
	dec := m.DecoderHidden
	if c.Loss.Reconstruction == 0 || m.Latent == 0 {
		dec = 0
	}
	return nets.Config{Context: m.Context, Latent: m.Latent, Encoder: m.Encoder, EncoderDense: m.EncoderDense,
		EncoderHidden: m.EncoderHidden, Hidden: m.Hidden, Blocks: m.Blocks, Film: m.Film, DecoderHidden: dec,
		Members: m.Members}
}
