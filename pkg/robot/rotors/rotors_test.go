package rotors

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func configs() map[string]Config {
	return map[string]Config{
		"speeds":        {Input: Speeds, Period: .01, Motor: 1750},
		"speeds latent": {Input: Speeds, Period: .004, Motor: 1750, Latent: 2},
		"commands": {Input: Commands, Period: .02, Motor: .8, Volts: 3.7, History: 3, Latent: 2,
			Observed: 12},
	}
}

// wobbly returns a made-up flight: nothing in it fits together, and every channel moves.
func wobbly(c *Config, rows int, r *rand.Rand) *Flight {
	f := &Flight{Name: "made", Stretches: [][2]int{{0, rows}}}
	q := [4]float64{1, .1, -.2, .3}
	for k := range rows {
		var x [Measured]float64
		for i := range x {
			x[i] = .5 * r.NormFloat64()
		}
		norm := 0.
		for i := range q {
			q[i] += .05 * r.NormFloat64()
			norm += q[i] * q[i]
		}
		for i := range q {
			x[3+i] = q[i] / math.Sqrt(norm)
		}
		var m [4]float64
		for i := range m {
			m[i] = c.Motor * (1 + .1*r.NormFloat64())
		}
		f.Time, f.State, f.Motors = append(f.Time, float64(k)*c.Period), append(f.State, x), append(f.Motors, m)
		f.Volts = append(f.Volts, 3.7+.1*r.NormFloat64())
	}
	return f
}

// made returns a model with random numbers, and starts from a flight.
func made(t *testing.T, c Config, steps int) (*Model, *Flight, [Lanes]Start, *rand.Rand) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Theta {
		m.Theta[i] += .1 * r.NormFloat64()
	}
	f := wobbly(&c, c.History+Lanes+steps+1, r)
	var starts [Lanes]Start
	for l := range starts {
		starts[l] = Start{f, c.History + l}
	}
	return m, f, starts, r
}

// linearLoss is a random linear function of the measured states after every step.
type linearLoss struct {
	roll    *Rollout
	starts  [Lanes]Start
	weights [][]float64 // of the states after h steps
}

func newLinearLoss(roll *Rollout, starts [Lanes]Start, steps int, r *rand.Rand) *linearLoss {
	l := &linearLoss{roll, starts, make([][]float64, steps+1)}
	for h := range l.weights {
		l.weights[h] = make([]float64, Measured*Lanes)
		for i := range l.weights[h] {
			l.weights[h][i] = r.NormFloat64()
		}
	}
	return l
}

func (l *linearLoss) steps() int { return len(l.weights) - 1 }

func (l *linearLoss) value() (sum float64) {
	l.roll.Forward(l.starts, l.steps())
	for h := 1; h <= l.steps(); h++ {
		for i, w := range l.weights[h] {
			sum += w * l.roll.After(h)[i]
		}
	}
	return sum
}

func (l *linearLoss) gradient(n int) []float64 {
	l.value()
	g := make([]float64, n)
	l.roll.Backward(l.steps(), g, func(h int, _, ds []float64) {
		for i, w := range l.weights[h] {
			ds[i] += w
		}
	})
	return g
}

// TestGradientOfARolloutIsItsDerivative compares the gradient of a loss of all states, after every step, with finite
// differences along random directions.
func TestGradientOfARolloutIsItsDerivative(t *testing.T) {
	const steps, eps = 4, 1e-5
	for name, c := range configs() {
		t.Run(name, func(t *testing.T) {
			m, _, starts, r := made(t, c, steps)
			loss := newLinearLoss(m.NewRollout(steps), starts, steps, r)
			gradient, theta := loss.gradient(len(m.Theta)), slices.Clone(m.Theta)
			direction := make([]float64, len(theta))
			at := func(k float64) float64 {
				for i := range theta {
					m.Theta[i] = theta[i] + k*direction[i]
				}
				return loss.value()
			}
			for range 30 {
				along := 0.
				for i := range direction {
					direction[i] = r.NormFloat64()
					along += direction[i] * gradient[i]
				}
				want := (8*(at(eps)-at(-eps)) - (at(2*eps) - at(-2*eps))) / (12 * eps)
				if math.Abs(along-want) > 1e-6*(1+math.Abs(want)) {
					t.Fatalf("gradient %.10g, finite difference %.10g", along, want)
				}
			}
		})
	}
}

// TestTurnedWorldTurnsPredictions: heading and place are no inputs.
func TestTurnedWorldTurnsPredictions(t *testing.T) {
	const steps, yaw = 5, 1.1
	c, s := math.Cos(yaw/2), math.Sin(yaw/2)
	turn := func(x [Measured]float64) [Measured]float64 {
		rotate := func(i int) {
			x[i], x[i+1] = x[i]*math.Cos(yaw)-x[i+1]*math.Sin(yaw), x[i]*math.Sin(yaw)+x[i+1]*math.Cos(yaw)
		}
		rotate(0)
		rotate(7)
		w, i, j, k := x[3], x[4], x[5], x[6]
		x[3], x[4], x[5], x[6] = c*w-s*k, c*i-s*j, c*j+s*i, c*k+s*w
		x[0], x[1], x[2] = x[0]+3, x[1]-2, x[2]+1
		return x
	}
	for name, config := range configs() {
		t.Run(name, func(t *testing.T) {
			m, f, starts, _ := made(t, config, steps)
			roll, turned := m.NewRollout(steps), m.NewRollout(steps)
			roll.Forward(starts, steps)
			for k := range f.State {
				f.State[k] = turn(f.State[k])
			}
			turned.Forward(starts, steps)
			for l := range Lanes {
				near(t, MeasuredOf(turned.After(steps), l), turn(MeasuredOf(roll.After(steps), l)))
			}
		})
	}
}

func near(t *testing.T, got, want [Measured]float64) {
	t.Helper()
	for i := range want {
		if math.Abs(want[i]-got[i]) > 1e-9*(1+math.Abs(want[i])) {
			t.Fatalf("entry %d: %g, want %g", i, got[i], want[i])
		}
	}
}

// TestPredictionsUseOnlyWhatTheProtocolsAllow: states after the start, motors from the predicted row on, the battery
// after the start and rows before the history change nothing.
func TestPredictionsUseOnlyWhatTheProtocolsAllow(t *testing.T) {
	const steps = 5
	for name, c := range configs() {
		t.Run(name, func(t *testing.T) {
			m, f, starts, _ := made(t, c, steps)
			for l := range starts {
				starts[l].Row = c.History + 7
			}
			roll := m.NewRollout(steps)
			roll.Forward(starts, steps)
			want := MeasuredOf(roll.After(steps), 0)
			row := starts[0].Row
			for k := range f.State {
				if k > row || k < row-c.History {
					f.State[k][8] += 3
					f.Volts[k] = 9
				}
				if k >= row+steps || k < row-c.History {
					f.Motors[k] = [4]float64{}
				}
			}
			roll.Forward(starts, steps)
			if got := MeasuredOf(roll.After(steps), 0); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

func TestConfigRefusesWhatNoModelCanBe(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"input":    func(c *Config) { c.Input = "thrust" },
		"period":   func(c *Config) { c.Period = .1 },
		"motor":    func(c *Config) { c.Motor = 0 },
		"voltage":  func(c *Config) { c.Volts = 0 },
		"observer": func(c *Config) { c.History = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			c := configs()["commands"]
			change(&c)
			if _, err := New(c); err == nil {
				t.Error("no error")
			}
		})
	}
	m, _ := New(configs()["speeds"])
	if _, err := Load(m.Config, m.Theta[1:]); err == nil {
		t.Error("numbers of another model: no error")
	}
}
