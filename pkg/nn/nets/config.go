// Package nets lays the nets of Variational Neural Dynamics over one flat
// parameter slice: the encoder of a context window into the latent z, the
// residual of the dynamics conditioned on z, and the auxiliary decoder.
//
// Every net has a forward pass without a tape, which allocates nothing, a
// forward pass that keeps a tape, with the same numbers bit for bit, and a
// backward pass that adds to gradients. Parameters are only read, so workers
// share them; each worker has tapes of its own.
//
// Shapes: B batch, T time, H hidden, X residual inputs, Z latent, U residual
// outputs, C features of a context row. Row-major, batch first, except for the
// context, whose first index is time: [T×B×C].
package nets

import "fmt"

// Kinds of encoder.
const (
	EncoderGRU = "gru" // dense + GELU per step, GRU over the steps, linear to z
	EncoderMLP = "mlp" // two dense + GELU over the flattened window, linear to z
)

// Config holds the sizes of the nets.
type Config struct {
	Context        int    // T, rows of the context window
	ContextInputs  int    // C, features of a context row
	Inputs         int    // X, inputs of the residual besides z
	Outputs        int    // U, outputs of the residual
	Latent         int    // Z; 0: no latent, hence no encoder, no decoder, no FiLM
	Encoder        string // EncoderGRU or EncoderMLP
	EncoderDense   int    // units of the encoder's dense layer
	EncoderHidden  int    // units of the GRU, or of the MLP's second layer
	Hidden, Blocks int    // H units of the residual and its number of H×H blocks
	Film           bool   // condition the blocks on z; else, or without blocks, z joins the inputs
	DecoderHidden  int    // units of the decoder's two layers; 0: no decoder
	Members        int    // residual nets that share encoder and decoder
}

// Bounds of what a configuration may ask for, so that a damaged one cannot ask for all memory.
const (
	maxWidth   = 8192
	maxParts   = 64
	maxRows    = 4096
	maxNumbers = 1 << 26
)

// check names the first field that makes no sense.
func (c Config) check() error {
	type field struct {
		name            string
		value, min, max int
	}
	fields := []field{{"Inputs", c.Inputs, 1, maxWidth}, {"Outputs", c.Outputs, 1, maxWidth},
		{"Latent", c.Latent, 0, maxWidth},
		{"Hidden", c.Hidden, 1, maxWidth}, {"Blocks", c.Blocks, 0, maxParts}, {"Members", c.Members, 1, maxParts},
		{"DecoderHidden", c.DecoderHidden, 0, maxWidth}}
	if c.Latent > 0 {
		fields = append(fields, field{"Context", c.Context, 1, maxRows},
			field{"ContextInputs", c.ContextInputs, 1, maxWidth},
			field{"EncoderDense", c.EncoderDense, 1, maxWidth}, field{"EncoderHidden", c.EncoderHidden, 1, maxWidth})
	}
	for _, f := range fields {
		if f.value < f.min || f.value > f.max {
			return fmt.Errorf("model: %s is %d, want %d to %d", f.name, f.value, f.min, f.max)
		}
	}
	if c.Latent > 0 && c.Encoder != EncoderGRU && c.Encoder != EncoderMLP {
		return fmt.Errorf("model: Encoder is %q, want %q or %q", c.Encoder, EncoderGRU, EncoderMLP)
	}
	return nil
}

func (c Config) hasDecoder() bool { return c.Latent > 0 && c.DecoderHidden > 0 }
func (c Config) usesFilm() bool   { return c.Latent > 0 && c.Film && c.Blocks > 0 }
func (c Config) joinsInput() bool { return c.Latent > 0 && !c.usesFilm() }
