package cli

import (
	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/airframe"
)

// assembleNode is the node name of the block of a parameter file that says how bags become flights.
const assembleNode = "assemble"

// recordings says how flights are to be read.
type recordings struct {
	dt       float64 // s; 0 is the configuration's
	window   int     // rows of context
	config   string  // parameter file, or empty
	airframe string  // parameter file, or empty
}

// options turns r into those of assemble.
func (r recordings) options() (flightlog.Options, error) {
	o := flightlog.DefaultOptions()
	if r.config != "" {
		if err := param.Load(r.config, assembleNode, &o.Config); err != nil {
			return o, err
		}
	}
	if r.dt > 0 {
		o.Delta = r.dt
	}
	o.Window = r.window
	if r.airframe != "" {
		var a airframe.Airframe
		param.Default(&a)
		if err := param.Load(r.airframe, airframe.Node, &a); err != nil {
			return o, err
		}
		o.Limits.Rate = a.MaxRate
		if o.HoverThrottle == 0 { // else the bags were flown at that of the configuration
			o.HoverThrottle, o.ThrustCurve, o.LeastThrust, o.BatteryVoltage = a.Hover, a.Curve, a.Least, a.Voltage
		}
	}
	return o, nil
}

// read reads flight CSVs and bags, and all those in folders. What looks wrong in them is a warning.
func (c *console) read(inputs []string, o flightlog.Options) ([]quad.Flight, error) {
	return flightlog.ReadAll(c.ctx, inputs, o, func(w flightlog.Warning) { c.warn(w.String()) })
}

// seconds is how long the flights are.
func seconds(flights []quad.Flight, dt float64) float64 {
	return float64(rows(flights)) * dt
}

func rows(flights []quad.Flight) (n int) {
	for _, f := range flights {
		for _, s := range f.Segments {
			n += len(s)
		}
	}
	return n
}
