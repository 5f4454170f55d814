package guard

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// mirror is a robot at 2.3 m/s along y that turns about along x, with velocities of a source.
type mirror struct {
	force  float64 // m/s² along x
	speed  float64 // m/s there at the onset
	across float64 // factor of the velocity along x from the onset on
	lag    float64 // s by which velocities lag
	turned float64 // rad, of the frame of velocities about z
	noise  float64 // m/s, of each coordinate of the velocity
	apart  float64 // s between samples; 0: 0.02
}

// found is the time after the onset at which velocities contradict positions; +Inf: they never do.
func (m mirror) found() float64 {
	const onset, fast = 40, 2.3 // exhibits; m/s
	var d detector
	var p plant
	rng := rand.New(rand.NewPCG(5, 6))
	sin, cos := math.Sincos(m.turned)
	for i := range 90 {
		t := cmp.Or(m.apart, 0.02) * float64(i-onset)
		late := t - m.lag
		x, y := m.speed+m.force*late, fast
		if t >= 0 {
			x *= m.across
		}
		s := quad.State{P: so3.Vec3{X: m.speed*t + m.force*t*t/2, Y: fast * t, Z: 1}, Q: so3.Identity(),
			V: so3.Vec3{X: cos*x - sin*y, Y: sin*x + cos*y}}
		s.P = s.P.Add(so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(3e-4))
		s.V = s.V.Add(so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(m.noise))
		d.add(&s, t, &p)
		if _, found := d.twisted(); found {
			return t
		}
	}
	return math.Inf(1)
}

// One mirrored axis shows within 0.3 s of 0.15 m/s along it, however fast the robot flies along another. Velocities
// that lag, of a frame that is turned a little, or with noise, contradict nothing.
func TestOneMirroredAxisShowsInFastFlight(t *testing.T) {
	for name, c := range map[string]struct {
		mirror
		within float64 // s; 0: never
	}{
		"mirrored, quicker":      {mirror{force: 1, speed: 0.15, across: -1, noise: 0.01}, 0.3},
		"mirrored, turns about":  {mirror{force: -2, speed: 0.15, across: -1, noise: 0.01}, 0.3},
		"mirrored, slow samples": {mirror{speed: 1.2, across: -1, noise: 0.01, apart: 0.033}, 0.3},
		"honest, slow samples":   {mirror{force: 2, across: 1, noise: 0.01, apart: 0.033}, 0},
		"honest":                 {mirror{force: 4, across: 1, noise: 0.01}, 0},
		"velocities lag":         {mirror{force: 8, across: 1, lag: 0.02, noise: 0.01}, 0},
		"turned frame":           {mirror{across: 1, turned: 0.05, noise: 0.01}, 0},
		"noise":                  {mirror{force: 2, across: 1, noise: 0.05}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if at := c.found(); (at < math.Inf(1)) != (c.within > 0) || c.within > 0 && (at < 0 || at > c.within) {
				t.Errorf("found %.2f s after the onset, expected within %g s", at, c.within)
			}
		})
	}
}
