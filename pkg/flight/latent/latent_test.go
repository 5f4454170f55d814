package latent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

var vehicle = quadrotor.Robot{Dt: .02, Prior: true, Origin: so3.Vec3{X: 3, Y: -2, Z: 1},
	Actuator: quadrotor.Actuator{ThrustGain: .9, ThrustLag: .1, RateGain: 1.1, RateDelay: 1.3, RateLag: .03}}

func small() nets.Config {
	return nets.Config{Context: 8, Latent: 3, Encoder: nets.EncoderGRU, EncoderDense: 8, EncoderHidden: 8, Hidden: 16,
		Blocks: 2,
		Film:   true, DecoderHidden: 4, Members: 2}
}

// random is a model with random weights.
func random(t testing.TB, q quadrotor.Robot, c nets.Config, seed uint64) *vnd.Model[float32] {
	t.Helper()
	m, err := vnd.New(q.System(), c)
	if err != nil {
		t.Fatal(err)
	}
	m.Net.Init(rand.New(rand.NewPCG(seed, 2)))
	for i := range m.Output {
		m.Output[i], m.BiasShare[i], m.ResidualScale[i] = .05, 1, .025
	}
	return m
}

func reader(t testing.TB, m *vnd.Model[float32], q quadrotor.Robot) *LoadedModel {
	t.Helper()
	return readerOf(t, m, q, 1)
}

func readerOf(t testing.TB, m *vnd.Model[float32], q quadrotor.Robot, every int) *LoadedModel {
	t.Helper()
	r, err := LoadModel(m, q, every)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func encoder(t testing.TB, r *LoadedModel) *Encoder {
	t.Helper()
	e, err := New(.1)
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(r)
	return e
}

// flight is a smooth motion with any commands: an encoder need not find sense in it. Times count from 1000 s.
func flight(rows int, dt float64) []quad.Row {
	out := make([]quad.Row, rows)
	for k := range out {
		t := dt * float64(k)
		out[k] = quad.Row{T: 1000 + t,
			State: quad.State{P: so3.Vec3{X: math.Sin(t), Y: math.Cos(2 * t), Z: 1},
				V: so3.Vec3{X: math.Cos(t), Y: -2 * math.Sin(2*t)},
				Q: so3.FromEuler(.2*math.Sin(3*t), .2*math.Cos(4*t), t)},
			Command: quad.Command{Thrust: 9.8 + math.Sin(7*t),
				Rates: so3.Vec3{X: math.Cos(5 * t), Y: math.Sin(6 * t), Z: .2}}}
	}
	return out
}

// offline encodes the window that ends with the last row, and finds its novelty by the rollouts of prediction.
func offline(m *vnd.Model[float32], q quadrotor.Robot, rows []quad.Row) (z []float32, novelty float32) {
	T := m.Net.Context
	rows = rows[len(rows)-T-1:]
	z = vnd.Latents(m, q, [][]quad.Row{rows}, 1)
	w := m.NewWindows(1)
	w.Reset(1)
	measured, actions := q.Flatten(rows)
	w.Set(0, measured, actions[:T*m.System.Dims().Action])
	r := m.NewMeanRollout(1, 1)
	r.Begin(0, 1, 1, z)
	return z, m.Novelty(r.ResidualMean(w, 0))
}

// What the encoder finds live is what is found in the recording: the latent to the last bit.
func TestLiveIsOffline(t *testing.T) {
	plain := small()
	plain.Encoder, plain.Film, plain.Members = nets.EncoderMLP, false, 1
	for _, c := range []nets.Config{small(), plain} {
		m := random(t, vehicle, c, 1)
		e, rows := encoder(t, reader(t, m, vehicle)), flight(60, .02)
		between := 0
		for k := range rows {
			if !e.Push(&rows[k]) || e.Stamp() != rows[k].T {
				t.Fatalf("row %d was not taken", k)
			}
			if k < c.Context {
				if e.Known() || e.Novelty() != 1 ||
					slices.ContainsFunc(e.Mean(), func(z float32) bool { return z != 0 }) {
					t.Fatalf("row %d: %v of a window that is not whole", k, e.Mean())
				}
				continue
			}
			z, novelty := offline(m, vehicle, rows[:k+1])
			if !e.Known() || !slices.Equal(e.Mean(), z) {
				t.Fatalf("row %d: %v, the recording gives %v", k, e.Mean(), z)
			}
			if got := e.Novelty(); math.Abs(float64(got-novelty)) > 1e-4 {
				t.Fatalf("row %d: novelty %v, the recording gives %v", k, got, novelty)
			}
			if novelty > .05 && novelty < .95 {
				between++
			}
		}
		if between < 10 {
			t.Errorf("only %d novelties between 0 and 1: the test shows nothing", between)
		}
	}
}

// Ticks at a multiple of the rows' rate give rows of every n-th state and the mean command, with jitter and all.
func TestFrequentTicks(t *testing.T) {
	const every = 4
	m := random(t, vehicle, small(), 1)
	e, ticks := encoder(t, readerOf(t, m, vehicle, every)), flight(200, .02/every)
	var rows []quad.Row
	rng := rand.New(rand.NewPCG(3, 3))
	for k := range ticks {
		ticks[k].T += 4e-4 * rng.Float64()
		if began := e.Push(&ticks[k]); began != (k%every == 0) {
			t.Fatalf("tick %d: began a row: %t", k, began)
		}
		if k%every == 0 {
			rows = append(rows, ticks[k])
			rows[len(rows)-1].Command = quad.Command{}
		}
		row := &rows[len(rows)-1]
		row.Command.Thrust += ticks[k].Command.Thrust / every
		row.Command.Rates = row.Command.Rates.Add(ticks[k].Command.Rates.Scale(1. / every))
		if len(rows) > 9 && k%every == 0 {
			z, _ := offline(m, vehicle, rows)
			for i := range z {
				if math.Abs(float64(e.Mean()[i]-z[i])) > 1e-5 {
					t.Fatalf("tick %d: %v, of the mean commands %v", k, e.Mean(), z)
				}
			}
		}
	}
}

// Long gaps, clocks set back and broken steps give the prior mean until the window is whole again.
func TestGaps(t *testing.T) {
	broken := func(k int, f func(*quad.Row)) func([]quad.Row) {
		return func(rows []quad.Row) { f(&rows[k]) }
	}
	for name, c := range map[string]struct {
		from  int // first row after the fault
		spoil func([]quad.Row)
	}{
		"gap":        {20, func(rows []quad.Row) { shift(rows[20:], .1) }},
		"clock back": {20, func(rows []quad.Row) { shift(rows[20:], -7) }},
		"NaN":        {21, broken(20, func(s *quad.Row) { s.State.V.Y = math.NaN() })},
		"infinity":   {21, broken(20, func(s *quad.Row) { s.Command.Rates.Z = math.Inf(1) })},
		"no time":    {21, broken(20, func(s *quad.Row) { s.T = math.NaN() })},
	} {
		t.Run(name, func(t *testing.T) {
			e, rows := encoder(t, reader(t, random(t, vehicle, small(), 1), vehicle)), flight(40, .02)
			c.spoil(rows)
			for k := range rows {
				e.Push(&rows[k])
				want := k >= 8 && k < 20 || k >= c.from+8
				if e.Known() != want || (e.Mean()[0] != 0) != want || !want && e.Novelty() != 1 {
					t.Fatalf("row %d: known %t, %v", k, e.Known(), e.Mean())
				}
			}
		})
	}
}

// Rows that were lost cost no latent: a gap of at most the greatest age is read as rows between its ends.
func TestSmallGapIsBridged(t *testing.T) {
	m := random(t, vehicle, small(), 1)
	for _, lost := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(lost, " lost"), func(t *testing.T) {
			e, rows := encoder(t, reader(t, m, vehicle)), flight(40, .02)
			from, to := rows[19], rows[20+lost]
			for k := 1; k <= lost; k++ {
				u := float64(k) / float64(lost+1)
				rows[19+k] = quad.Row{T: from.T + .02*float64(k), State: from.State.Between(to.State, u),
					Command: from.Command}
			}
			for k := range 20 {
				e.Push(&rows[k])
			}
			for k := 20 + lost; k < len(rows); k++ {
				e.Push(&rows[k])
				z, _ := offline(m, vehicle, rows[:k+1])
				if !e.Known() || !near(e.Mean(), z) {
					t.Fatalf("row %d: known %t, %v; of the bridged flight %v", k, e.Known(), e.Mean(), z)
				}
			}
		})
	}
}

func near(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-5 })
}

func shift(rows []quad.Row, by float64) {
	for i := range rows {
		rows[i].T += by
	}
}

// Another model in mid-flight reads the rows that are there; with another Δt it waits for its own.
func TestSwapKeepsTheWindow(t *testing.T) {
	rows := flight(60, .02)
	a, b := random(t, vehicle, small(), 1), random(t, vehicle, small(), 7)
	longer := small()
	longer.Context = 12
	c := random(t, vehicle, longer, 9)
	slow := vehicle
	slow.Dt = .04
	d := random(t, slow, small(), 1)
	ra, rb := reader(t, a, vehicle), reader(t, b, vehicle)
	e := encoder(t, ra)
	check := func(k int, m *vnd.Model[float32]) {
		t.Helper()
		if z, _ := offline(m, vehicle, rows[:k+1]); !e.Known() || !slices.Equal(e.Mean(), z) {
			t.Fatalf("row %d: %v, known %t, want %v", k, e.Mean(), e.Known(), z)
		}
	}
	for k := range rows[:50] {
		e.Push(&rows[k])
		switch k {
		case 15:
			e.Swap(rb)
			check(k, b)
		case 20:
			check(k, b)
			e.Swap(ra) // a rollback
			check(k, a)
		case 25:
			check(k, a)
			e.Swap(reader(t, c, vehicle))
			if e.Known() { // 9 of the 13 rows are there
				t.Error("a longer window was whole at once")
			}
		case 28:
			if e.Known() {
				t.Error("whole too early")
			}
		case 29:
			check(k, c)
			e.Swap(e.loaded)
			check(k, c)
		case 40:
			e.Swap(reader(t, d, slow))
		}
		if k >= 40 && e.Known() {
			t.Error("rows of another Δt were read")
		}
	}
}

func TestStale(t *testing.T) {
	e, rows := encoder(t, reader(t, random(t, vehicle, small(), 1), vehicle)), flight(20, .02)
	if e.At(0)[0] != 0 || !math.IsInf(e.Stamp(), -1) {
		t.Error("a latent of nothing")
	}
	for k := range rows {
		e.Push(&rows[k])
	}
	now := rows[19].T
	for age, fresh := range map[float64]bool{0: true, .09: true, .11: false, -.2: false, math.NaN(): false} {
		if (e.At(now + age)[0] != 0) != fresh {
			t.Errorf("%g s later: %v", age, e.At(now+age))
		}
	}
}

// A model whose weights are no numbers gives the prior mean, and knows nothing.
func TestModelWithoutNumbers(t *testing.T) {
	m := random(t, vehicle, small(), 1)
	for i := range m.Net.Params {
		m.Net.Params[i] = float32(math.NaN())
	}
	e, rows := encoder(t, reader(t, m, vehicle)), flight(20, .02)
	for k := range rows {
		e.Push(&rows[k])
	}
	if e.Known() || e.Mean()[0] != 0 || e.Novelty() != 1 {
		t.Errorf("%v, novelty %v", e.Mean(), e.Novelty())
	}
}

func TestWithoutALatent(t *testing.T) {
	c := small()
	c.Latent = 0
	m := random(t, vehicle, c, 1)
	e, rows := encoder(t, reader(t, m, vehicle)), flight(20, .02)
	for k := range rows {
		e.Push(&rows[k])
	}
	w := m.NewWindows(1)
	w.Reset(1)
	measured, actions := vehicle.Flatten(rows[11:])
	w.Set(0, measured, actions[:8*4])
	r := m.NewMeanRollout(1, 1)
	r.Begin(0, 1, 1, nil)
	if want := m.Novelty(r.ResidualMean(w, 0)); len(e.Mean()) != 0 || math.Abs(float64(e.Novelty()-want)) > 1e-4 {
		t.Errorf("%v, novelty %v, want %v", e.Mean(), e.Novelty(), want)
	}
}

func TestNoModelYet(t *testing.T) {
	e, err := New(.1)
	if err != nil {
		t.Fatal(err)
	}
	rows := flight(1, .02)
	if e.Push(&rows[0]) || e.Known() || e.Mean() != nil || e.At(1) != nil || e.Novelty() != 1 {
		t.Error("something was encoded without a model")
	}
	if _, err := New(0); err == nil {
		t.Error("an age of 0 was taken")
	}
	if _, err := LoadModel(random(t, vehicle, small(), 1), vehicle, 0); err == nil {
		t.Error("0 ticks per row were taken")
	}
}

func TestAllocatesNothing(t *testing.T) {
	ra, rb := reader(t, random(t, vehicle, small(), 1), vehicle), reader(t, random(t, vehicle, small(), 2), vehicle)
	e, rows := encoder(t, ra), flight(800, .02)
	k := 0
	for ; k < 20; k++ {
		e.Push(&rows[k])
	}
	least := math.Inf(1) // of three tries: what the run time allocates meanwhile counts as well
	for range 3 {
		least = min(least, testing.AllocsPerRun(1, func() { // of all rows together
			for range 100 {
				e.Push(&rows[k])
				if e.Novelty(); !e.loaded.noveltyKnown {
					t.Fatalf("row %d: nothing was read", k)
				}
				if k%50 == 20 {
					e.Swap(rb)
					ra, rb = rb, ra
				}
				k++
			}
		}))
	}
	if least != 0 {
		t.Errorf("%v allocations in 100 rows", least)
	}
}

// BenchmarkPush is one row at the sizes that a fit has by default; with its novelty, and the two together.
func BenchmarkPush(b *testing.B) {
	c := nets.Config{Context: 20, Latent: 12, Encoder: nets.EncoderGRU, EncoderDense: 128, EncoderHidden: 128,
		Hidden: 256, Blocks: 2,
		Film: true, DecoderHidden: 128, Members: 1}
	e, rows := encoder(b, reader(b, random(b, vehicle, c, 1), vehicle)), flight(100, .02)
	for k := range 40 {
		e.Push(&rows[k])
	}
	b.Log(kernel.Name())
	next := rows[39]
	measure := func(b *testing.B, and func()) { // the median: what other processes take is not in it
		var took []float64
		for b.Loop() {
			next.T += .02
			from := time.Now()
			e.Push(&next)
			and()
			took = append(took, float64(time.Since(from).Nanoseconds())/1e3)
		}
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2], "p50-µs")
	}
	b.Run("latent", func(b *testing.B) { measure(b, func() {}) })
	b.Run("latent and novelty", func(b *testing.B) { measure(b, func() { e.Novelty() }) })
}
