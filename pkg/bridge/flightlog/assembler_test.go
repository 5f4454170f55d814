package flightlog

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// epoch is when the made-up recordings start, ns.
const epoch = int64(1_700_000_000_000_000_000)

// swing is a flight known in closed form, t in s.
func swing(t float64) quad.State {
	return quad.State{
		P: so3.Vec3{X: math.Sin(1.5 * t), Y: 0.7 * math.Sin(3*t), Z: 1 + 0.2*math.Cos(t)},
		Q: so3.FromEuler(0.3*math.Sin(2*t), 0.2*math.Cos(1.7*t), 0.5*t),
		V: so3.Vec3{X: 1.5 * math.Cos(1.5*t), Y: 2.1 * math.Cos(3*t), Z: -0.2 * math.Sin(t)},
	}
}

// steer is a command that is different at every time.
func steer(t float64) quad.Command {
	return quad.Command{Thrust: 9.81 + 2*math.Sin(5*t), Rates: so3.Vec3{X: math.Cos(7 * t), Y: t, Z: -math.Sin(3 * t)}}
}

// event is a message and when it is received.
type event struct {
	received int64
	pose     *bridge.Pose
	command  *bridge.Command
}

func poseAt(t float64, odometry bool) event {
	at := epoch + nanoseconds(t)
	s := swing(t)
	if !odometry {
		s.V = so3.Vec3{}
	}
	return event{received: at + 3e6, pose: &bridge.Pose{Stamp: at, State: s, HasVelocity: odometry}}
}

func commandAt(t float64) event {
	at := epoch + nanoseconds(t)
	return event{received: at + 5e6, command: &bridge.Command{Stamp: at, Command: steer(t)}}
}

// recording is poses and commands at their rates, Hz, in the order of receipt.
func recording(duration, poseRate, commandRate float64, odometry bool) []event {
	var events []event
	for k := range int(duration * poseRate) {
		events = append(events, poseAt(float64(k)/poseRate, odometry))
	}
	for k := range int(duration * commandRate) {
		events = append(events, commandAt(float64(k)/commandRate))
	}
	inOrder(events)
	return events
}

func inOrder(events []event) {
	slices.SortStableFunc(events, func(a, b event) int { return int(a.received - b.received) })
}

// run sends the events through an assembler and returns a copy of all rows.
func run(t testing.TB, o Options, events []event) ([]AlignedRow, Counts) {
	t.Helper()
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	var rows []AlignedRow
	for _, e := range events {
		if e.pose != nil {
			a.Pose(*e.pose, e.received)
		} else {
			a.Command(*e.command, e.received)
		}
		rows = append(rows, a.Rows()...)
	}
	a.Finish()
	return append(rows, a.Rows()...), a.Counts()
}

// lengths of the segments of rows.
func lengths(rows []AlignedRow) []int {
	var out []int
	for i, r := range rows {
		if i == 0 || r.Segment != rows[i-1].Segment {
			out = append(out, 0)
		}
		out[len(out)-1]++
	}
	return out
}

func options(change func(*Options)) Options {
	o := DefaultOptions()
	if change != nil {
		change(&o)
	}
	return o
}

// At the rows' own rate, a row is exactly what came.
func TestRowsAsTheyCame(t *testing.T) {
	rows, counts := run(t, DefaultOptions(), recording(2, 50, 50, true))
	if want := (Counts{Poses: 100, Commands: 100, Rows: 100}); counts != want {
		t.Fatalf("counts %+v, expected %+v", counts, want)
	}
	for k, r := range rows {
		s := swing(float64(k) / 50)
		s.Q = r.Step.State.Q // normalised
		want := AlignedRow{Stamp: epoch + int64(k)*20e6,
			Step: quad.Row{T: 0.02 * float64(k), State: s, Command: steer(float64(k) / 50)}}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Fatalf("row %d: %s", k, diff)
		}
	}
}

// At other rates, with jitter, a row is near the truth, whichever side the nearest pose is on.
func TestRowsFromOtherRates(t *testing.T) {
	for _, c := range []struct {
		rate, jitter float64 // Hz, s
		odometry     bool
		p, v, q      float64 // worst errors: m, m/s, rad
	}{
		{100, 0, true, 1e-12, 1e-12, 1e-7},
		{120, 0, true, 2e-6, 1e-3, 1e-4},
		{120, 0.002, true, 3e-6, 1.5e-3, 1.5e-4},
		{360, 0.0005, true, 5e-7, 3e-4, 3e-5},
		{33, 0.003, true, 1e-4, 1e-2, 1e-3},
		{50, 0.004, true, 1e-5, 3e-3, 2e-4},
		{200, 0.001, false, 1e-4, 0.05, 5e-5},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		var events []event
		for k := range int(4 * c.rate) {
			events = append(events, poseAt(float64(k)/c.rate+c.jitter*(2*rng.Float64()-1), c.odometry))
		}
		for k := range 400 {
			events = append(events, commandAt(0.01*float64(k)-0.003))
		}
		inOrder(events)
		rows, _ := run(t, options(func(o *Options) { o.MaxGap = 0.05 }), events)
		if n := lengths(rows); len(n) != 1 || n[0] < 195 {
			t.Fatalf("%g Hz: segments of %v rows", c.rate, n)
		}
		var p, v, q float64
		for _, r := range rows {
			want := swing(seconds(r.Stamp - epoch))
			p = math.Max(p, r.Step.State.P.Sub(want.P).Norm())
			v = math.Max(v, r.Step.State.V.Sub(want.V).Norm())
			q = math.Max(q, so3.Log(want.Q.Conj().Mul(r.Step.State.Q)).Norm())
		}
		t.Logf("%g Hz ± %g ms: %.2g mm, %.2g mm/s, %.2g mrad", c.rate, 1e3*c.jitter, 1e3*p, 1e3*v, 1e3*q)
		if p > c.p || v > c.v || q > c.q {
			t.Errorf("%g Hz ± %g s: errors %g m, %g m/s, %g rad, expected at most %g, %g, %g", c.rate, c.jitter, p, v,
				q, c.p, c.v, c.q)
		}
	}
}

// The command of a row is the time-weighted mean of what was in force, by an independent sum over all commands.
func TestMeanCommand(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := timeline{timeout: 1e9}
		var all []held
		at := int64(0)
		for range rapid.IntRange(1, 30).Draw(rt, "commands") {
			all = append(all, held{at, steer(seconds(at))})
			l.add(at, steer(seconds(at)))
			at += rapid.Int64Range(1, 30e6).Draw(rt, "interval")
		}
		from := rapid.Int64Range(-20e6, at+100e6).Draw(rt, "from")
		to := from + 20e6
		got, ok := l.mean(from, to)
		if ok != (from >= 0) {
			rt.Fatalf("a command in force from %d on: %v", from, ok)
		}
		if !ok {
			return
		}
		var want quad.Command
		for i, h := range all {
			end := to
			if i+1 < len(all) {
				end = min(to, all[i+1].at)
			}
			if w := float64(end-max(h.at, from)) / 20e6; w > 0 {
				want.Thrust += w * h.command.Thrust
				want.Rates = want.Rates.Add(h.command.Rates.Scale(w))
			}
		}
		if math.Abs(got.Thrust-want.Thrust) > 1e-12 || got.Rates.Sub(want.Rates).Norm() > 1e-12 {
			rt.Fatalf("mean %+v, expected %+v", got, want)
		}
	})
}

// A command delay moves commands by itself, a pose delay poses.
func TestDelays(t *testing.T) {
	o := options(func(o *Options) { o.CommandDelay, o.PoseDelay = 0.06, 0.02 })
	rows, _ := run(t, o, recording(2, 50, 50, true))
	first := rows[0] // the pose stamped 0.08 was taken at 0.06, when the first command came into force
	if first.Stamp != epoch+60e6 || first.Step.State.P != swing(0.08).P || first.Step.Command != steer(0) {
		t.Fatalf("first row %+v", first)
	}
	if r := rows[10]; r.Step.State.P != swing(0.28).P || r.Step.Command != steer(0.2) {
		t.Fatalf("row 10 %+v", r)
	}
}

// Messages without stamps have the time of their receipt.
func TestNoStamps(t *testing.T) {
	events := recording(2, 50, 50, true)
	for _, e := range events {
		if e.command != nil {
			e.command.Stamp = 0
		}
	}
	rows, _ := run(t, DefaultOptions(), events)
	if r := rows[20]; r.Step.Command.Thrust == steer(0.42).Thrust ||
		math.Abs(r.Step.Command.Thrust-steer(0.42-0.005).Thrust) > 0.2 {
		t.Fatalf("row 20: %+v", r)
	}
	rows, _ = run(t, options(func(o *Options) { o.Stamps = stampsReceive }), events)
	if rows[0].Stamp != epoch+23e6 { // the second pose: the first came before any command
		t.Fatalf("first row at %d ns", rows[0].Stamp-epoch)
	}
}

// What a row says of the state depends on no pose that is more than half the time between two poses after it.
func TestStateIsCausal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.SampledFrom([]float64{50, 60, 100, 120, 360}).Draw(rt, "rate")
		odometry := rapid.Bool().Draw(rt, "odometry")
		events := recording(1.5, rate, 100, odometry)
		whole, _ := run(t, DefaultOptions(), events)
		until := epoch + nanoseconds(rapid.Float64Range(0.5, 1.4).Draw(rt, "until"))
		changed := slices.Clone(events)
		for i, e := range changed {
			if e.pose != nil && e.pose.Stamp > until {
				p := *e.pose
				p.State.P.X += 0.01
				p.State.V.Y -= 0.1
				p.State.Q = p.State.Q.Mul(so3.FromEuler(0.1, 0, 0))
				changed[i].pose = &p
			}
		}
		rows, _ := run(t, DefaultOptions(), changed)
		half := nanoseconds(0.5/rate) + 1
		for k, r := range rows {
			if r.Stamp+half <= until && r != whole[k] {
				rt.Fatalf("row %d at %d ns changed by what was after %d ns", k, r.Stamp-epoch, until-epoch)
			}
		}
	})
}

// The order in which the two topics are received does not matter, as long as neither is far behind.
func TestInterleaving(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.SampledFrom([]float64{50, 77, 100, 240}).Draw(rt, "rate")
		commands := rapid.SampledFrom([]float64{25, 50, 90, 250}).Draw(rt, "commands")
		odometry := rapid.Bool().Draw(rt, "odometry")
		events := recording(1.5, rate, commands, odometry)
		want, _ := run(t, DefaultOptions(), events)
		shift := rapid.Int64Range(-150e6, 150e6).Draw(rt, "shift")
		jitter := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		last := [2]int64{}
		for i, e := range events {
			topic := 0
			if e.command != nil {
				topic = 1
				events[i].received += shift
			}
			events[i].received = max(events[i].received+jitter.Int64N(30e6), last[topic]) // each topic stays in order
			last[topic] = events[i].received
		}
		inOrder(events)
		got, counts := run(t, DefaultOptions(), events)
		if diff := cmp.Diff(want, got); diff != "" || counts.Late > 0 {
			rt.Fatalf("counts %+v: %s", counts, diff)
		}
	})
}

// FuzzAssembler sends any messages in any order: rows stay on their grid, states whole and memory bounded.
func FuzzAssembler(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x14\x14\x01\x01\x14\x14\x01"))
	long := []byte{}
	for k := range 200 {
		long = append(long, byte(k%2), 20, 10, byte(k))
	}
	f.Add(long)
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := New(DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		stamp, received := epoch, epoch
		last := AlignedRow{Segment: -1}
		check := func(rows []AlignedRow) {
			for _, r := range rows {
				s := r.Step.State
				if !(math.Abs(s.Q.Norm()-1) < 1e-9) || !finite(r.Step.Command) {
					t.Fatalf("row %+v", r)
				}
				if r.Segment == last.Segment && r.Stamp != last.Stamp+20e6 || r.Segment < last.Segment ||
					r.Segment > last.Segment+1 {
					t.Fatalf("row %+v after %+v", r, last)
				}
				last = r
			}
		}
		for ; len(data) >= 4; data = data[4:] {
			kind, value := data[0], float64(int8(data[3]))
			stamp += leap(kind>>1, int64(int8(data[1])))
			received += leap(kind>>4, int64(int8(data[2])))
			if kind&1 == 0 {
				p := bridge.Pose{Stamp: stamp, State: swing(value / 100), HasVelocity: data[3]&1 == 1}
				if data[3] == 0x80 {
					p.State.P.X = math.NaN()
				}
				a.Pose(p, received)
			} else {
				c := steer(value)
				if data[3] == 0x80 {
					c.Thrust = math.Inf(-1)
				}
				a.Command(bridge.Command{Stamp: stamp, Command: c}, received)
			}
			if len(a.samples) > maxSamples || len(a.commands.list) > maxCommands || len(a.poses.waiting) > maxWaiting {
				t.Fatalf("%d samples, %d commands, %d waiting", len(a.samples), len(a.commands.list),
					len(a.poses.waiting))
			}
			check(a.Rows())
		}
		a.Finish()
		check(a.Rows())
		if c := a.Counts(); c.Rows > 0 && len(a.samples) > 0 {
			t.Fatalf("%d samples left after the end, counts %+v", len(a.samples), c)
		}
	})
}

// leap is by how much a clock moves, ns: most often by milliseconds.
func leap(kind byte, n int64) int64 {
	switch kind & 7 {
	case 5:
		return n * 1e3
	case 6:
		return n * 1e10
	case 7:
		return n << 55
	}
	return n * 1e6
}

func BenchmarkAssembler(b *testing.B) {
	events := recording(60, 200, 100, false)
	b.ReportAllocs()
	for b.Loop() {
		if rows, _ := run(b, DefaultOptions(), events); len(rows) == 0 {
			b.Fatal("no rows")
		}
	}
	b.ReportMetric(float64(len(events))*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
