// Package rotors is a quadrotor that is driven by its four rotors, as a model with identified numbers: thrust, drag,
// torques, lags, and the small feedback terms that recorded flights show. Its state has measured body rates.
//
// Frames: world ENU, z up; body FLU. Motors: 1 front right, 2 rear right, 3 rear left, 4 front left.
package rotors

import (
	"fmt"
	"slices"

	"vnd/pkg/nn/kernel/tape"
)

// Input says what the four motor columns of a flight hold.
type Input string

const (
	Speeds   Input = "speeds"   // measured rotor speeds, rad/s
	Commands Input = "commands" // motor commands, 0…1, beside the battery's voltage
)

// Config is what makes a model beside its numbers.
type Config struct {
	Input  Input   `json:"input"`
	Period float64 `json:"period_s"` // Δt of a step
	// Motor and Volts are a typical speed or command and a typical voltage: the units of both inside the model.
	Motor float64 `json:"motor"`
	Volts float64 `json:"volts,omitempty"`
	// History is how many rows before a start the model may use; 0: the state at the start alone.
	History int `json:"history"`
	// Latent is the number of hidden states that are driven by the features.
	Latent int `json:"latent"`
	// Observed is the number of filters over what the model missed in the history; 0 without one.
	Observed int `json:"observed"`
}

// Check refuses what no model can be.
func (c *Config) Check() error {
	switch {
	case c.Input != Speeds && c.Input != Commands:
		return fmt.Errorf("input is %q, want %q or %q", c.Input, Speeds, Commands)
	case !(c.Period >= .002 && c.Period <= .05):
		return fmt.Errorf("period Δt is %g s, want 0.002 to 0.05 s", c.Period)
	case !(c.Motor > 0) || c.Input == Commands && !(c.Volts > 0):
		return fmt.Errorf("typical motor %g and voltage %g, want both above 0", c.Motor, c.Volts)
	case c.Observed > 0 && c.History == 0:
		return fmt.Errorf("%d observed states without a history", c.Observed)
	case c.History < 0 || c.Latent < 0 || c.Observed < 0 || c.History > 1000 || c.Latent+c.Observed > 100:
		return fmt.Errorf("history of %d rows, %d latent and %d observed states, want at most 1000 rows and 100 states",
			c.History, c.Latent, c.Observed)
	}
	return nil
}

// Model is the transition of the robot with its numbers.
type Model struct {
	Config Config
	Theta  []float64
	// Observer are the indices in Theta of what multiplies the observer's states, Force those of the force's features.
	Observer, Force []int
	index           index
	prog            *tape.Program
	in              inputs
	out             []reg // state after the step, in the order of the inputs' state
}

// inputs are the registers that a step reads.
type inputs struct {
	state  []reg // measured part, rotors, lagged torque, slow rotors, hidden
	motors []reg // 4
	volts  reg
	truth  []reg // measured state, where keep is 1
	keep   reg   // 1: begin from the truth, and show the observer what was missed
	first  reg   // 1 in the first step: rotors and torque begin settled
	count  int
}

// Sizes of the parts of the state after the measured one.
const (
	sizeRotors = 4 // speeds, in units of Config.Motor
	sizeTorque = 3 // lagged torque, in units of 10 rad/s²
	sizeSlow   = 4 // speeds with a second, longer lag
)

// Size is S, the size of the state.
func (c *Config) Size() int {
	return Measured + sizeRotors + sizeTorque + sizeSlow + c.Latent + c.Observed
}

func layoutOf(c *Config) (in inputs) {
	take := func(n int) []reg {
		r := make([]reg, n)
		for i := range r {
			r[i] = reg(in.count + i)
		}
		in.count += n
		return r
	}
	in.state = take(c.Size())
	in.motors = take(4)
	in.truth = take(Measured)
	flags := take(3)
	in.volts, in.keep, in.first = flags[0], flags[1], flags[2]
	return in
}

// New returns the model with the numbers that a fit begins from.
func New(c Config) (*Model, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	m := &Model{Config: c, in: layoutOf(&c)}
	b := &builder{Program: tape.New(m.in.count)}
	m.out = b.step(&c, &m.in)
	m.prog, m.Theta, m.Observer, m.Force, m.index = b.Program, b.theta, b.observer, b.force, b.index
	return m, nil
}

// Observed returns the model with an observer on top, whose numbers are 0: it predicts the same from a history.
func (m *Model) Observed(history, filters int) (*Model, error) {
	c := m.Config
	c.History, c.Observed = history, filters
	with, err := New(c)
	if err != nil {
		return nil, err
	}
	own := make([]bool, len(with.Theta))
	for _, i := range with.Observer {
		own[i] = true
	}
	from := m.Theta
	for i := range with.Theta {
		if !own[i] {
			with.Theta[i], from = from[0], from[1:]
		}
	}
	return with, nil
}

// Propulsion returns the model of the rotors alone: what the state adds is left out. Recorded flights were flown closed
// loop, and such terms hold along them alone: a policy that leaves them would find that they push it on.
func (m *Model) Propulsion() *Model {
	bare := *m
	bare.Theta = slices.Clone(m.Theta)
	for _, i := range m.index.feedback {
		bare.Theta[i] = 0
	}
	return &bare
}

// Load returns the model with given numbers.
func Load(c Config, theta []float64) (*Model, error) {
	m, err := New(c)
	if err != nil {
		return nil, err
	}
	if len(theta) != len(m.Theta) {
		return nil, fmt.Errorf("%d numbers, want %d", len(theta), len(m.Theta))
	}
	copy(m.Theta, theta)
	return m, nil
}
