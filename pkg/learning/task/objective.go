package task

import "vnd/pkg/flight/reference"

// Objective says what a policy is trained for in its tasks: the cost, and where episodes begin.
type Objective struct {
	Cost    string `param:"cost" default:"stiff" enum:"stiff,paper,custom" doc:"cost of the tasks: stiff holds in wind, paper is the published one but for two details, custom is the section weights"`
	Weights Cost   `param:"weights" doc:"weights of the cost's terms; they count with cost: custom alone"`
	Spread  Spread `param:"spread" doc:"spread of the states in which episodes begin (standard deviations)"`
}

// sharpness is how many times sharper the stiff cost is where a policy is improved. Within 10 cm it counts squares.
// Beside the beginnings of episodes a steady error of a centimetre has next to no weight then: errors were twice as
// large (docs/decisions/0033-steady-errors.md). From nothing a policy does not know yet what is constant and what is
// not; nor does one that sees features, which are noisy.
const sharpness = 10

// New returns the task of a name under the configured cost. path is what Track follows; nil is the figure-eight.
func (c *Objective) New(name string, path reference.Reference) (*Task, error) {
	cost := c.Weights
	if c.Cost != "custom" {
		var err error
		if cost, err = CostOf(c.Cost, name); err != nil {
			return nil, err
		}
	}
	t, err := New(name, cost, c.Spread, path)
	if err == nil && c.Cost == StiffCost && name != Features {
		t.improving, err = New(name, cost.Sharper(sharpness), c.Spread, path)
	}
	return t, err
}
