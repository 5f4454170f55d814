// Package effects measures the accelerations that latents of a model cause on a quadrotor: samples beside recorded
// windows.
package effects

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// velocities at which accelerations are taken: hovering, and 2 m/s along each axis.
var velocities = []so3.Vec3{{}, {X: 2}, {Y: 2}, {Z: 2}}

// Figures compare samples with windows, each at the velocity where it is worst. Accelerations are less the mean of the
// windows'. Reach is the 99th percentile of the samples' over that of the windows'. Energy is the energy distance of
// samples to windows over that of two halves of the windows. Coverage is the share of windows that samples cover, in
// the condition where it is least.
type Figures struct {
	Windows  int     `json:"windows"`
	Reach    float64 `json:"reach"`
	Energy   float64 `json:"energy_ratio"`
	Coverage float64 `json:"coverage"`
}

// String is one line.
func (f Figures) String() string {
	return fmt.Sprintf("samples against %d windows: 99 %% of accelerations %.2f of theirs, energy distance %.2f of "+
		"that of halves, coverage %.0f %%", f.Windows, f.Reach, f.Energy, 100*f.Coverage)
}

const (
	fewestWindows, mostWindows = 40, 2000 // that are looked at

	halvings   = 4 // of the windows, at random, that figures are means of
	neighbours = 5 // a window is covered if a sample is nearer than its fifth neighbour in the other half
)

// Compare draws samples and sets them beside the latents [N][Z] of the windows of each condition. Of fewer than 40
// windows it says nothing but their number.
func Compare(m *vnd.Model[float32], q quadrotor.Robot, conditions [][]float32, draw func(*rand.Rand, []float32),
	seed uint64) Figures {
	z, of := thin(conditions, m.Net.Latent)
	if len(of) < fewestWindows {
		return Figures{Windows: len(of)}
	}
	n, rng := len(of)/2, rand.New(rand.NewPCG(seed, 0xeffec7))
	c := comparison{of: of, n: n, conditions: len(conditions)}
	drawn := make([]float32, halvings*n*m.Net.Latent)
	for s := range slices.Chunk(drawn, m.Net.Latent) {
		draw(rng, s)
	}
	for range halvings {
		c.orders = append(c.orders, rng.Perm(len(of)))
	}
	out := Figures{Windows: len(of), Reach: math.Inf(1), Coverage: 1}
	for _, v := range velocities {
		f := c.at(Accelerations(m, q, v, z), Accelerations(m, q, v, drawn))
		out.Reach, out.Energy = min(out.Reach, f.Reach), max(out.Energy, f.Energy)
		out.Coverage = min(out.Coverage, f.Coverage)
	}
	return out
}

// thin takes at most mostWindows latents, evenly, with the number of each one's condition.
func thin(conditions [][]float32, Z int) (z []float32, of []int) {
	total := 0
	for _, c := range conditions {
		total += len(c) / Z
	}
	every := max(1, (total+mostWindows-1)/mostWindows)
	for i, c := range conditions {
		for k := 0; k+Z <= len(c); k += every * Z {
			z, of = append(z, c[k:k+Z]...), append(of, i)
		}
	}
	return z, of
}

// comparison is of n samples and as many windows in each half.
type comparison struct {
	n          int
	of         []int // condition of each window
	conditions int
	orders     [][]int // of the windows: the first n are one half
}

// at compares accelerations.
func (c *comparison) at(windows, samples []so3.Vec3) (f Figures) {
	var mean so3.Vec3
	for _, a := range windows {
		mean = mean.Add(a.Scale(1 / float64(len(windows))))
	}
	f.Reach = farthest(samples, mean) / farthest(windows, mean)
	var between, halves float64
	covered, all := make([]float64, c.conditions), make([]float64, c.conditions)
	for k, order := range c.orders {
		s, half := samples[k*c.n:][:c.n], [2][]so3.Vec3{}
		for i, at := range order[:2*c.n] {
			half[i/c.n] = append(half[i/c.n], windows[at])
		}
		between += (energy(s, half[0]) + energy(s, half[1])) / 2
		halves += energy(half[0], half[1])
		for i, a := range half[0] {
			all[c.of[order[i]]]++
			if nearest(a, s, 1) <= nearest(a, half[1], neighbours) {
				covered[c.of[order[i]]]++
			}
		}
	}
	f.Energy, f.Coverage = between/halves, 1
	for i, n := range all {
		if n > 0 {
			f.Coverage = min(f.Coverage, covered[i]/n)
		}
	}
	return f
}

// Accelerations are what latents z[N][Z] cause on a level quadrotor at a velocity (world, m/s) under the command that
// lets it hover, m/s² in the world.
func Accelerations(m *vnd.Model[float32], q quadrotor.Robot, v so3.Vec3, z []float32) (out []so3.Vec3) {
	const batch = 64
	Z, d := m.Net.Latent, m.System.Dims()
	start, hold := robot.Settled(m.System), make([]float32, d.Action)
	m.System.Rest(make([]float32, d.Measured), hold)
	quadrotor.Measured(&quad.State{Q: so3.Quat{W: 1}, V: v}, start)
	s, a := slices.Repeat(start, batch), slices.Repeat(hold, batch)
	next, roll := make([]float32, len(s)), m.NewMeanRollout(batch, 1)
	for part := range slices.Chunk(z, batch*Z) {
		B := len(part) / Z
		roll.Begin(0, B, 1, part)
		roll.Step(0, s[:B*d.State], a[:B*d.Action], next[:B*d.State])
		for b := range B {
			then := quadrotor.State(next[b*d.State:])
			out = append(out, then.V.Sub(v).Scale(1/q.Dt))
		}
	}
	return out
}

// farthest is the 99th percentile of the distances from a point.
func farthest(a []so3.Vec3, from so3.Vec3) float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i].Sub(from).Norm()
	}
	slices.Sort(d)
	return d[int(.99*float64(len(d)-1))]
}

// energy is the energy distance of two samples of one size, 2 E|x − y| − E|x − x'| − E|y − y'|.
func energy(x, y []so3.Vec3) (sum float64) {
	for i := range x {
		for j := range y {
			sum += 2*x[i].Sub(y[j]).Norm() - x[i].Sub(x[j]).Norm() - y[i].Sub(y[j]).Norm()
		}
	}
	return sum / float64(len(x)*len(y))
}

// nearest is the squared distance from a to its k-th nearest point, k ≤ neighbours.
func nearest(a so3.Vec3, points []so3.Vec3, k int) float64 {
	var least [neighbours]float64 // ascending
	for i := range k {
		least[i] = math.Inf(1)
	}
	for _, p := range points {
		d := p.Sub(a)
		x := d.Dot(d)
		for i := range k {
			if x < least[i] {
				x, least[i] = least[i], x
			}
		}
	}
	return least[k-1]
}
