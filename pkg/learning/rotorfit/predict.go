package rotorfit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"vnd/pkg/robot/rotors"
)

// Predictions are those from the starts of one flight: states [start][step − 1].
type Predictions struct {
	Flight *rotors.Flight
	Starts []int // rows
	States [][][rotors.Measured]float64
}

// Predictor is models that predict together, and what is added to their mean.
type Predictor struct {
	Models     []*rotors.Model
	Correction *Correction // may be nil
	Steps      int         // that the fit went over; 0: not known
}

// Config is that of the models.
func (p *Predictor) Config() *rotors.Config { return &p.Models[0].Config }

// History is how many rows before a start are used.
func (p *Predictor) History() int {
	if p.Correction == nil {
		return p.Config().History
	}
	return max(p.Config().History, p.Correction.History())
}

// Predict predicts the steps from the starts, which have History rows before them.
func (p *Predictor) Predict(f *rotors.Flight, starts []rotors.Start, steps int) *Predictions {
	made := rollOut(p.Models, f, starts, steps)
	if p.Correction != nil {
		p.Correction.apply(made)
	}
	return made
}

// rollOut rolls every model out from the starts and returns the mean of their predictions.
func rollOut(models []*rotors.Model, f *rotors.Flight, starts []rotors.Start, steps int) *Predictions {
	p := &Predictions{Flight: f}
	for _, s := range starts {
		p.Starts, p.States = append(p.Starts, s.Row), append(p.States, make([][rotors.Measured]float64, steps))
	}
	for _, m := range models {
		roll := m.NewRollout(steps)
		for first := 0; first < len(starts); first += rotors.Lanes {
			var block [rotors.Lanes]rotors.Start
			for l := range block {
				block[l] = starts[min(first+l, len(starts)-1)]
			}
			roll.Forward(block, steps)
			for l := range min(rotors.Lanes, len(starts)-first) {
				for h := range steps {
					sum(&p.States[first+l][h], rotors.MeasuredOf(roll.After(h+1), l), 1/float64(len(models)))
				}
			}
		}
	}
	for _, states := range p.States {
		for h := range states {
			unit(&states[h])
		}
	}
	return p
}

// sum adds a share of x to mean. Attitudes add with the sign that is nearer.
func sum(mean *[rotors.Measured]float64, x [rotors.Measured]float64, share float64) {
	same := 0.
	for i := 3; i < 7; i++ {
		same += mean[i] * x[i]
	}
	for i := range x {
		if i >= 3 && i < 7 && same < 0 {
			x[i] = -x[i]
		}
		mean[i] += share * x[i]
	}
}

// unit gives the attitude unit norm.
func unit(x *[rotors.Measured]float64) {
	norm := math.Sqrt(x[3]*x[3] + x[4]*x[4] + x[5]*x[5] + x[6]*x[6])
	for i := 3; i < 7; i++ {
		x[i] /= norm
	}
}

// Header is the first line of a prediction CSV.
const Header = "start,step,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz"

// Write writes predictions as CSV, numbers with six decimals. It refuses those that are not finite: models diverge
// where a flight is far from those that they were fitted to.
func (p *Predictions) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintln(out, Header)
	var line []byte
	for i, start := range p.Starts {
		for h := range p.States[i] {
			line = strconv.AppendInt(line[:0], int64(start), 10)
			line = strconv.AppendInt(append(line, ','), int64(h+1), 10)
			for _, x := range p.States[i][h] {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					return fmt.Errorf("%s: the prediction from row %d is not finite after %d steps",
						p.Flight.File, start, h+1)
				}
				line = strconv.AppendFloat(append(line, ','), x, 'f', 6, 64)
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// Round rounds the states as Write does, so that scores are those of the file.
func (p *Predictions) Round() {
	for _, states := range p.States {
		for h := range states {
			for i, x := range states[h] {
				states[h][i], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'f', 6, 64), 64)
			}
		}
	}
}

// Typical returns the configuration for the flights: what the motors hold, Δt, and the units of both.
func Typical(flights []*rotors.Flight, history, latent, observed int) (rotors.Config, error) {
	c := rotors.Config{Input: rotors.Commands, History: history, Latent: latent, Observed: observed}
	var rows float64
	largest := 0.
	for _, f := range flights {
		for k, m := range f.Motors {
			largest = max(largest, slices.Max(m[:]))
			c.Motor += (m[0] + m[1] + m[2] + m[3]) / 4
			rows++
			if f.Volts != nil {
				c.Volts += f.Volts[k]
			}
		}
	}
	if rows == 0 {
		return c, errors.New("no flights")
	}
	c.Motor, c.Volts, c.Period = c.Motor/rows, c.Volts/rows, Period(flights[0])
	c.Period = math.Round(c.Period*1e5) / 1e5
	if largest > 1.5 {
		c.Input, c.Volts = rotors.Speeds, 0
		if largest <= percent {
			return c, fmt.Errorf("%s: m1…m4 are up to %g, want commands of 0…1, or rotor speeds in rad/s",
				flights[0].File, largest)
		}
	}
	for _, f := range flights {
		if err := Fits(&c, f); err != nil {
			return c, err
		}
	}
	if err := c.Check(); err != nil {
		return c, fmt.Errorf("%s: %w", flights[0].File, err)
	}
	return c, nil
}

// percent is the largest of such numbers; no rotor flies that slowly, in rad/s.
const percent = 100

// Fits refuses flights that a model of this configuration cannot predict. The error names the file.
func Fits(c *rotors.Config, f *rotors.Flight) error {
	if err := fits(c, f); err != nil {
		return fmt.Errorf("%s: %w", f.File, err)
	}
	return nil
}

func fits(c *rotors.Config, f *rotors.Flight) error {
	if dt := Period(f); math.Abs(dt/c.Period-1) > .02 {
		return fmt.Errorf("rows are %.4g s apart, those of the model %g s", dt, c.Period)
	}
	for k, m := range f.Motors {
		if top := slices.Max(m[:]); c.Input == rotors.Commands && top > 1.0001 {
			return fmt.Errorf("line %d: motor command %g, want 0…1 as PWM divided by its largest value", k+2, top)
		}
	}
	if c.Input == rotors.Commands && f.Volts == nil {
		return errors.New("m1…m4 are motor commands and there is no column vbat: thrust needs the battery's voltage")
	}
	if c.Input == rotors.Speeds {
		for k, m := range f.Motors {
			if slices.Max(m[:]) > 10*c.Motor {
				return fmt.Errorf("line %d: rotor speeds %v are far from the typical %.4g rad/s", k+2, m, c.Motor)
			}
		}
		if mean := meanOf(f); mean < c.Motor/10 {
			return fmt.Errorf("rotor speeds are %.3g rad/s on average, far from the typical %.4g", mean, c.Motor)
		}
	}
	return nil
}

func meanOf(f *rotors.Flight) (mean float64) {
	for _, m := range f.Motors {
		mean += (m[0] + m[1] + m[2] + m[3]) / 4 / float64(len(f.Motors))
	}
	return mean
}
