package experiment

import (
	"math"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/effects"
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// Latents says what a model's latents tell of the winds.
type Latents struct {
	// KNN is the share of windows of unseen flights whose wind is that of most of the nearest latents of the flights
	// learned from; Groups are the unseen latents by scenario, for a picture.
	KNN     float64       `json:"knn"`
	Neigh   int           `json:"neighbours"`
	Windows int           `json:"windows"`
	Groups  [][][]float64 `json:"-"` // [scenario][window][Z]
	// Imagined are the accelerations (world, m/s²) that latents cause on a robot told to hover, less what they are
	// beside the wind in the calmest scenario, on average: of samples of the latent prior, and of the unseen
	// windows, by scenario.
	Sampled   []so3.Vec3   `json:"-"`
	Encoded   [][]so3.Vec3 `json:"-"`
	Quantiles []float64    `json:"sampled_quantiles"` // of the sampled strengths: 5, 25, 50, 75, 95, 99 %
	// Samples compares samples with the windows that were learned from.
	Samples effects.Figures `json:"samples"`
	// WindError is the mean distance of the accelerations of unseen windows from the true winds, m/s²; math.MaxFloat64
	// without a window.
	WindError float64 `json:"wind_error"`
}

// OpenLoop is how far rollouts of the model are off after a second, with the true commands and the latent of the window
// before, mean position error, m.
type OpenLoop struct {
	Task     string  `json:"task"`
	Scenario string  `json:"scenario"`
	Mean     float64 `json:"mean_m"`
	Windows  int     `json:"windows"`
}

// neighbours that vote, and rows from one window to the next.
const (
	neighbours = 15
	everyRow   = 10
)

// read looks into the newest model, with the flights of after all learning.
func (s *study) read() error {
	m, q, err := vnd.FromBundle(s.newest, quadrotor.Reader)
	if err != nil {
		return err
	}
	flights, newest := s.split()
	known, unseen := make([][][]float64, len(s.plan.Scenarios)), make([][][]float64, len(s.plan.Scenarios))
	s.encode(m, q, flights, known)
	s.encode(m, q, newest, unseen)
	l := &s.out.Latents
	l.Groups, l.Neigh = unseen, neighbours
	l.KNN, l.Windows = effects.Vote(known, unseen, neighbours)
	push := pushes(m, q)
	beside := l.imagine(s.plan.Winds(), push)
	l.sample(m, s.Seed, func(z []float64) so3.Vec3 { return push(z).Sub(beside) })
	l.Samples = effects.Compare(m, q, buffer(m, q, flights), m.Sample, s.Seed)
	return s.openLoop(m, q, newest)
}

// encode adds the latents of flights to those of their scenarios.
func (s *study) encode(m *vnd.Model[float32], q quadrotor.Robot, flights []Recorded, to [][][]float64) {
	for _, f := range flights {
		if f.At >= len(to) { // under several winds
			continue
		}
		to[f.At] = append(to[f.At], effects.Split(vnd.Latents(m, q, f.Segments, everyRow), m.Net.Latent)...)
	}
}

// pushes returns what latents of a model do to a robot that hovers, m/s² in the world.
func pushes(m *vnd.Model[float32], q quadrotor.Robot) func(z []float64) so3.Vec3 {
	d, x := gate.NewDisturbance(m, q.Dt), make([]float32, m.Net.Latent)
	return func(z []float64) so3.Vec3 {
		for j := range x {
			x[j] = float32(z[j])
		}
		p := d.Place(x)
		return so3.Vec3{X: p[0], Y: p[1], Z: p[2]}
	}
}

// imagine compares what the latents of the groups do to a robot that hovers with the true winds, and returns what is
// not of the wind: a model knows thrust and drag of the robot, too.
func (l *Latents) imagine(winds []so3.Vec3, push func(z []float64) so3.Vec3) (beside so3.Vec3) {
	l.Encoded = make([][]so3.Vec3, len(l.Groups))
	calmest := -1
	for i, group := range l.Groups {
		for _, z := range group {
			l.Encoded[i] = append(l.Encoded[i], push(z))
		}
		if len(group) > 0 && (calmest < 0 || winds[i].Norm() < winds[calmest].Norm()) {
			calmest = i
		}
	}
	if l.WindError = math.MaxFloat64; calmest < 0 {
		return beside
	}
	known := l.Encoded[calmest]
	for _, a := range known {
		beside = beside.Add(a.Sub(winds[calmest]).Scale(1 / float64(len(known))))
	}
	sum, n := 0., 0.
	for i, group := range l.Encoded {
		for j := range group {
			group[j] = group[j].Sub(beside)
			sum += group[j].Sub(winds[i]).Norm()
			n++
		}
	}
	l.WindError = sum / n
	return beside
}

// buffer is the latents of all flights by scenario, those under several winds too.
func buffer(m *vnd.Model[float32], q quadrotor.Robot, flights []Recorded) (out [][]float32) {
	for _, f := range flights {
		for f.At >= len(out) {
			out = append(out, nil)
		}
		out[f.At] = append(out[f.At], vnd.Latents(m, q, f.Segments, everyRow)...)
	}
	return out
}

// sample draws latents of the model's prior.
func (l *Latents) sample(m *vnd.Model[float32], seed uint64, push func([]float64) so3.Vec3) {
	const draws = 4000
	rng := rand.New(rand.NewPCG(seed, 0x5a3))
	var strength []float64
	drawn, z := make([]float32, m.Net.Latent), make([]float64, m.Net.Latent)
	for range draws {
		m.Sample(rng, drawn)
		for j, x := range drawn {
			z[j] = float64(x)
		}
		a := push(z)
		l.Sampled, strength = append(l.Sampled, a), append(strength, math.Hypot(a.X, a.Y))
	}
	slices.Sort(strength)
	for _, p := range []float64{0.05, 0.25, 0.5, 0.75, 0.95, 0.99} {
		l.Quantiles = append(l.Quantiles, strength[int(p*(draws-1))])
	}
}

// openLoop rolls the model out over the flights.
func (s *study) openLoop(m *vnd.Model[float32], q quadrotor.Robot, flights []Recorded) error {
	for _, f := range flights {
		if f.At >= len(s.plan.Scenarios) {
			continue
		}
		mean, windows, err := openLoop(m, q, f.Segments)
		if err != nil {
			return err
		}
		s.out.OpenLoop = append(s.out.OpenLoop, OpenLoop{f.Task, s.plan.Scenarios[f.At].Label(), mean, windows})
	}
	return nil
}

// openLoop is the mean position error, m, of predictions of a second.
func openLoop(m *vnd.Model[float32], q quadrotor.Robot, segments [][]quad.Row) (mean float64, windows int, err error) {
	const steps = 50
	p, T := vnd.NewPredictor(m, q), m.Net.Context
	var before [][]quad.Row
	var future [][]quad.Command
	var truth []quad.State
	for _, rows := range segments {
		for i := T; i+steps < len(rows); i += everyRow {
			before = append(before, rows[i-T:i+1])
			future = append(future, commands(rows[i:i+steps]))
			truth = append(truth, rows[i+steps].State)
		}
	}
	out := make([][]quad.State, len(before))
	for i := range out {
		out[i] = make([]quad.State, steps)
	}
	if err := p.Predict(before, future, out); err != nil {
		return 0, 0, err
	}
	for i := range out {
		mean += out[i][steps-1].P.Sub(truth[i].P).Norm() / float64(len(out))
	}
	return mean, len(out), nil
}

func commands(rows []quad.Row) (out []quad.Command) {
	for _, r := range rows {
		out = append(out, r.Command)
	}
	return out
}
