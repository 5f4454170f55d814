package task

import "vnd/pkg/flight/reference"

// Objective says what a policy is trained for in its tasks: the cost, and where episodes begin.
type Objective struct {
	Cost    string `param:"cost" default:"stiff" enum:"stiff,paper,custom" doc:"cost of the tasks: stiff holds in wind, paper is as printed, custom is the section weights"`
	Weights Cost   `param:"weights" doc:"weights of the cost's terms; they count with cost: custom alone"`
	Spread  Spread `param:"spread" doc:"spread of the states in which episodes begin (standard deviations)"`
}

// New returns the task of a name under the configured cost. path is what Track follows; nil is the figure-eight.
func (c *Objective) New(name string, path reference.Reference) (*Task, error) {
	cost := c.Weights
	if c.Cost != "custom" {
		var err error
		if cost, err = CostOf(c.Cost, name); err != nil {
			return nil, err
		}
	}
	return New(name, cost, c.Spread, path)
}
