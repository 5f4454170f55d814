package experiment

import (
	"context"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/sim/closedloop"
)

// Respond sets the guard's response, once, where another's vehicle flies: to what the geometric law's flights without
// the filter show in the first of some scenarios, as a lab does by `vnd doctor`. Of a robot that shows too little it
// stays the default one.
func (c *Campaign) Respond(ctx context.Context, in ...Scenario) error {
	if c.External == nil || !c.Filter || c.Guard != nil || len(in) == 0 {
		return nil
	}
	const seconds, each = 15, 3 // of a flight, and flights of a task
	lab := *c
	lab.Filter = false
	var rows [][]quad.Row
	for _, d := range c.Tasks {
		for k := range uint64(each) {
			segments, err := lab.flyLaw(in[0], d, c.Seed<<8+k, seconds)
			if err != nil {
				return err
			}
			rows = append(rows, segments...)
		}
	}
	found, err := quadgate.Identify(ctx, rows, c.Nominal.Dt)
	if err == nil && found.Known() {
		c.Guard = new(guard.Config)
		param.Default(c.Guard)
		c.Guard.Response = *closedloop.ResponseOf(&found, false)
	}
	return err
}

// flyLaw records a flight of the geometric law, excited.
func (c *Campaign) flyLaw(f Scenario, d Task, seed uint64, seconds float64) ([][]quad.Row, error) {
	law, err := c.Law().Make(d)
	if err != nil {
		return nil, err
	}
	e := &excited{Controller: law, Excitation: NewExcitation(seed, c.Excite)}
	if _, err := c.fly(c.setup(f, d, seed, seconds), e); err != nil {
		return nil, err
	}
	return quad.Segments(e.rows, c.Nominal.Dt), nil
}
