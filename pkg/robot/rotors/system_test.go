package rotors

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/robot"
)

// kolibri is the default airframe.
func kolibri(t *testing.T) *Airframe {
	t.Helper()
	a := new(Airframe)
	if err := param.Check(a); err != nil {
		t.Fatal(err)
	}
	param.Default(a)
	return a
}

// systems are one of physics alone and a fitted one, whose parameters are all in use.
func systems(t *testing.T) map[string]*Model {
	t.Helper()
	physics, err := kolibri(t).Model(.01, .02)
	if err != nil {
		t.Fatal(err)
	}
	fitted, _, _, _ := made(t, Config{Input: Speeds, Period: .02, Motor: 1750, Latent: 2}, 1)
	return map[string]*Model{"physics": physics, "fitted": fitted}
}

// somewhere draws B states, actions and tangents.
func somewhere(sys *System[float64], B int, r *rand.Rand) (s, a, d []float64) {
	draw := func(n int, scale float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = scale * r.NormFloat64()
		}
		return x
	}
	S := sys.Dims().State
	s, a, d = draw(B*S, .3), draw(B*nA, .1), draw(B*nU, .05)
	for b := range B {
		q := s[b*S+atQ:][:4]
		q[0]++
		norm := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
		for i := range q {
			q[i] /= norm
		}
		for i := range sizeRotors {
			s[b*S+Measured+i]++
		}
	}
	for i := range a {
		a[i] = sys.config.Motor * (1 + a[i])
	}
	return s, a, d
}

// TestSystemGradientsMatchCentralDifferences: of the step, the difference from another state, the residual's inputs and
// the turn of a disturbance, in more rows than a program has lanes.
func TestSystemGradientsMatchCentralDifferences(t *testing.T) {
	const B = Lanes + 3
	for name, m := range systems(t) {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1))
			sys := NewSystem[float64](m)
			S := sys.Dims().State
			s, a, d := somewhere(sys, B, r)
			other, _, w := somewhere(sys, B, r)
			next, e, x := make([]float64, B*S), make([]float64, B*nU), make([]float64, B*nX)
			weights := make([]float64, B*(S+2*nU+nX))
			for i := range weights {
				weights[i] = r.NormFloat64()
			}
			value := func() (sum float64) {
				body := make([]float64, B*nU)
				sys.Step(B, s, a, d, next)
				sys.Minus(B, next, S, other, S, e)
				sys.Inputs(B, s, a, x)
				sys.ToBody(B, s, w, body)
				for i, v := range slices.Concat(next, e, x, body) {
					sum += weights[i] * v
				}
				return sum
			}
			value()
			dnext := slices.Clone(weights[:B*S])
			ds, da, dd := make([]float64, B*S), make([]float64, B*nA), make([]float64, B*nU)
			rest := weights[B*S:]
			sys.MinusVJP(B, next, S, other, S, rest[:B*nU], dnext)
			sys.InputsVJP(B, s, a, rest[B*nU:][:B*nX], ds, da)
			sys.ToBodyVJP(B, s, w, rest[B*(nU+nX):], ds)
			sys.StepVJP(B, s, a, d, dnext, ds, da, dd)
			matches(t, r, value, s, ds)
			matches(t, r, value, a, da)
			matches(t, r, value, d, dd)
		})
	}
}

// matches compares some of the gradients of a value, in x, with central differences.
func matches(t *testing.T, r *rand.Rand, value func() float64, x, dx []float64) {
	t.Helper()
	for range 200 {
		i := r.IntN(len(x))
		keep, eps := x[i], 1e-5*max(1, math.Abs(x[i]))
		x[i] = keep + eps
		up := value()
		x[i] = keep - eps
		want := (up - value()) / (2 * eps)
		if x[i] = keep; math.Abs(dx[i]-want) > 1e-6*(1+math.Abs(want)) {
			t.Fatalf("gradient %d of %d is %g, central difference %g", i, len(x), dx[i], want)
		}
	}
}

// TestPhysicsAlone: four rotors carry their mass, turn the body as their arms and torques say, and follow with their
// lag.
func TestPhysicsAlone(t *testing.T) {
	const dt, lag = .01, .03
	a := kolibri(t)
	m, err := a.Model(dt, lag)
	if err != nil {
		t.Fatal(err)
	}
	sys := NewSystem[float64](m)
	s, next, u := robot.Settled(sys), make([]float64, sys.Dims().State), make([]float64, nA)
	sys.Rest(make([]float64, nM), u)
	if math.Abs(u[0]-a.Hover()) > 1e-9 {
		t.Errorf("hovers at %g, want %g", u[0], a.Hover())
	}
	flown := func(motors ...float64) []float64 {
		sys.Step(1, s, motors, make([]float64, nU), next)
		return next
	}
	for i, x := range flown(u...) {
		if math.Abs(x-s[i]) > 1e-9 {
			t.Errorf("at rest number %d goes from %g to %g", i, s[i], x)
		}
	}
	h := u[0]
	const more = 1.01
	share := (1 - lag/dt*(1-math.Exp(-dt/lag))) * (more - 1) // that the speeds rise by, in the mean over the step
	lift := a.Thrust * h * h * 2 * (share + share*share/2)   // of one rotor
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-3*math.Abs(want) {
			t.Errorf("%s by %g, want %g", name, got, want)
		}
	}
	up := flown(more*h, more*h, more*h, more*h)
	near("climbs", up[atV+2], 4*lift/a.Mass*dt)
	near("rotors", up[Measured]-1, (more-1)*(1-math.Exp(-dt/lag)))
	near("rolls", flown(h, h, more*h, more*h)[atW], 2*lift*a.ArmY/a.Inertia[0]*dt)
	near("pitches", flown(h, more*h, more*h, h)[atW+1], 2*lift*a.ArmX/a.Inertia[1]*dt)
	spin := a.Rotor * a.Speed * h * (more - 1) * (1 - math.Exp(-dt/lag)) / dt
	near("yaws", flown(h, more*h, h, more*h)[atW+2], 2*(lift*a.Torque+spin)/a.Inertia[2]*dt)
}

// TestPropulsionIsTheSameAtAnySpeed: what speeds and rates add to a fitted model is left out, and what rotors do stays.
func TestPropulsionIsTheSameAtAnySpeed(t *testing.T) {
	sys := NewSystem[float64](systems(t)["fitted"].Propulsion())
	s, motors := robot.Settled(sys), []float64{1700, 1800, 1750, 1790}
	next, none := make([]float64, len(s)), make([]float64, nU)
	gained := func() (g [6]float64) { // Δv and Δω
		sys.Step(1, s, motors, none, next)
		for j := range 3 {
			g[j], g[3+j] = next[atV+j]-s[atV+j], next[atW+j]-s[atW+j]
		}
		return g
	}
	slow := gained()
	s[atV], s[atV+1], s[atV+2] = 3, -2, 1
	for j, x := range gained() {
		if math.Abs(x-slow[j]) > 1e-9 {
			t.Errorf("change %d is %g at rest and %g at speed", j, slow[j], x)
		}
	}
	motors[0] = 1900
	if gained() == slow {
		t.Error("motors make no difference")
	}
}

func TestAirframeThatCannotHoverIsRefused(t *testing.T) {
	for name, change := range map[string]func(a *Airframe){
		"two moments":  func(a *Airframe) { a.Inertia = a.Inertia[:2] },
		"no body":      func(a *Airframe) { a.Inertia = []float64{1e-4, 1e-4, 2.1e-4} },
		"too heavy":    func(a *Airframe) { a.Mass = 2 },
		"least beyond": func(a *Airframe) { a.Least = .5 },
	} {
		t.Run(name, func(t *testing.T) {
			a := kolibri(t)
			if change(a); a.Check() == nil {
				t.Error("passes")
			}
		})
	}
}

func TestRobotComesBackFromItsConfiguration(t *testing.T) {
	for name, m := range systems(t) {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(Robot{m}.Config())
			if err != nil {
				t.Fatal(err)
			}
			back, err := Reader.Read(m.Config.Period, raw)
			if err != nil || !slices.Equal(back.Model.Theta, m.Theta) || back.Model.Config != m.Config {
				t.Errorf("came back with the error %v", err)
			}
			if _, err := Reader.Read(2*m.Config.Period, raw); err == nil {
				t.Error("steps of another length pass")
			}
		})
	}
}

// TestContextIsScaledAsRecorded: residual inputs have a least spread, what the encoder reads of a hover has none: there
// small moves tell what a robot carries.
func TestContextIsScaledAsRecorded(t *testing.T) {
	var m System[float32]
	for _, s := range m.ContextSpans() {
		if s.Spread != 0 {
			t.Errorf("%s of the context: a spread of %g", s.Name, s.Spread)
		}
	}
	if s := m.InputSpans()[0]; s.Spread == 0 {
		t.Errorf("%s of the inputs has no spread", s.Name)
	}
}
