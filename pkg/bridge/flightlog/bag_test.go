package flightlog

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/bag/bagtest"
)

// inflated opens a file that is compressed by zstd.
func inflated(t testing.TB, path string) io.Reader {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(z.Close)
	return z
}

// recorded unpacks a bag that rosbag2 wrote.
func recorded(t testing.TB, name string) string {
	t.Helper()
	return bagtest.Unpack(t, filepath.Join("..", "..", "ros2", "bag", "testdata", name+".tar.zst"))
}

// TestRecordedFlights compares steps out of bags of rosbag2 with the rows that the bags were made of, and states how
// far the causal velocity is from theirs, which was smoothed and saw the future.
func TestRecordedFlights(t *testing.T) {
	sources := []struct {
		name     string
		velocity float64 // stated rms error, m/s, of all axes together
	}{
		{"june_07_data_wind__log", 0.0282},
		{"march_11__rwik_test_ppo_rand_poly_seed0", 0.0772},
		{"june_03__chpoly_2d_seed1_mppi_2d_0", 0.1023},
	}
	for _, name := range []string{"flight_mcap", "flight_sqlite3"} {
		f, warnings, err := ReadBag(recorded(t, name), options(func(o *Options) { o.HoverThrottle = 0.5 }))
		if err != nil || len(warnings) > 0 || f.Name != name || len(f.Segments) != len(sources) {
			t.Fatalf("%s: flight %q of %d segments, warnings %v, error %v", name, f.Name, len(f.Segments), warnings,
				err)
		}
		for i, source := range sources {
			path := source.name + ".csv"
			want, _, err := ParseCSV(path, inflated(t, filepath.Join("testdata", "datt", path+".zst")),
				DefaultOptions())
			if err != nil || len(want.Segments) != 1 || len(want.Segments[0]) != len(f.Segments[i]) {
				t.Fatalf("%s: %d rows in the bag, error %v", path, len(f.Segments[i]), err)
			}
			var p, q, thrust, rates, squares float64
			for k, w := range want.Segments[0] {
				g := f.Segments[i][k]
				p = math.Max(p, g.State.P.Sub(w.State.P).Norm())
				q = math.Max(q, so3.Log(g.State.Q.Conj().Mul(w.State.Q)).Norm())
				thrust = math.Max(thrust, math.Abs(g.Command.Thrust/w.Command.Thrust-1))
				rates = math.Max(rates, g.Command.Rates.Sub(w.Command.Rates).Norm()/w.Command.Rates.Norm())
				d := g.State.V.Sub(w.State.V)
				squares += d.Dot(d)
			}
			rms := math.Sqrt(squares / float64(len(want.Segments[0])))
			t.Logf("%s, %s: position %.2g mm, attitude %.2g rad, thrust %.2g, rates %.2g; velocity %.0f mm/s rms", name,
				source.name, 1e3*p, q, thrust, rates, 1e3*rms)
			if p > 1e-5 || q > 1e-5 || thrust > 1e-5 || rates > 1e-3 {
				t.Errorf("%s, %s: position off by %g m, attitude %g rad, thrust %g, rates %g", name, source.name, p, q,
					thrust, rates)
			}
			if rms > 1.02*source.velocity || rms < 0.98*source.velocity {
				t.Errorf("%s, %s: velocity error %.4f m/s rms, stated %.4f", name, source.name, rms, source.velocity)
			}
		}
	}
}

// near compares flights row by row; slack is for what went through float32 or a rotation, velocity for velocities.
func near(t *testing.T, name string, got, want quad.Flight, slack, velocity float64) {
	t.Helper()
	if len(got.Segments) != len(want.Segments) {
		t.Errorf("%s: %d segments, expected %d", name, len(got.Segments), len(want.Segments))
		return
	}
	for i, segment := range want.Segments {
		if len(got.Segments[i]) != len(segment) {
			t.Errorf("%s: segment %d has %d rows, expected %d", name, i, len(got.Segments[i]), len(segment))
			return
		}
		for k, w := range segment {
			g := got.Segments[i][k]
			off := []float64{g.State.P.Sub(w.State.P).Norm(), so3.Log(g.State.Q.Conj().Mul(w.State.Q)).Norm(),
				math.Abs(g.Command.Thrust - w.Command.Thrust), g.Command.Rates.Sub(w.Command.Rates).Norm()}
			v := g.State.V.Sub(w.State.V).Norm()
			if slices.Max(off) > slack || v > velocity || math.Abs(g.T-w.T) > 1e-9 {
				t.Errorf("%s: segment %d, row %d: %+v, expected %+v", name, i, k, g, w)
				return
			}
		}
	}
}

// A flight that is written to a bag and read again has the same rows; float64 fields keep their last bits.
func TestThroughBag(t *testing.T) {
	for _, path := range []string{zigzag, agile} {
		moving := mustRead(t, path)
		still, _, err := parse(withoutVelocity(moving.Segments[0]))
		if err != nil {
			t.Fatal(err)
		}
		for _, storage := range []string{bag.MCAP, bag.SQLite} {
			name := path + ", " + storage
			t.Run(name+", odometry", func(t *testing.T) { throughBag(t, storage, true, moving) })
			t.Run(name+", poses", func(t *testing.T) { throughBag(t, storage, false, still) })
		}
	}
}

func throughBag(t *testing.T, storage string, odometry bool, flight quad.Flight) {
	dir := filepath.Join(t.TempDir(), "b")
	if err := WriteBag(dir, []quad.Flight{flight},
		BagOptions{Storage: storage, Namespace: "/quad", Odometry: odometry}); err != nil {
		t.Fatal(err)
	}
	got, warnings, err := ReadBag(dir, DefaultOptions())
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%s: warnings %v, error %v", dir, warnings, err)
	}
	near(t, "bag", got, flight, 2e-6, 1e-9)
	for k, g := range got.Segments[0] {
		w := flight.Segments[0][k]
		if g.State.P != w.State.P || g.Command.Rates != w.Command.Rates || g.T != w.T {
			t.Fatalf("row %d: %+v, expected %+v", k, g, w)
		}
	}
}

func TestSeveralFlights(t *testing.T) {
	a, b := mustRead(t, zigzag), mustRead(t, agile)
	dir := filepath.Join(t.TempDir(), "b")
	if err := WriteBag(dir, []quad.Flight{a, b}, BagOptions{Odometry: true}); err != nil {
		t.Fatal(err)
	}
	got, _, err := ReadBag(dir, DefaultOptions())
	if err != nil || len(got.Segments) != 2 {
		t.Fatalf("%d segments, error %v", len(got.Segments), err)
	}
	if d := got.Segments[1][0].T - got.Segments[0][len(got.Segments[0])-1].T; math.Abs(d-5) > 1e-9 {
		t.Errorf("%g s between the flights", d)
	}
	if whole := Split(got, 0); len(whole) != 1 || whole[0].Name != "b" {
		t.Errorf("without a gap it is %d flights", len(whole))
	}
	flights := Split(got, DefaultOptions().FlightGap)
	if len(flights) != 2 || flights[0].Name != "b#1" || flights[1].Name != "b#2" ||
		len(flights[1].Segments[0]) != len(b.Segments[0]) {
		t.Errorf("flights %d, %q", len(flights), flights[len(flights)-1].Name)
	}
	if whole := Split(got, 5.1); len(whole) != 1 || whole[0].Name != "b" || len(whole[0].Segments) != 2 {
		t.Errorf("with a longer gap it is %d flights", len(whole))
	}
	for i, f := range []quad.Flight{a, b} {
		for k := range got.Segments[i] {
			got.Segments[i][k].T = f.Segments[0][k].T
		}
		near(t, f.Name, quad.Flight{Segments: got.Segments[i : i+1]}, f, 2e-6, 1e-9)
	}
	if err := WriteBag(dir, []quad.Flight{a}, BagOptions{}); err == nil ||
		!strings.Contains(err.Error(), "the folder exists already") {
		t.Errorf("over a bag: error %v", err)
	}
	if err := WriteBag(filepath.Join(t.TempDir(), "c"), []quad.Flight{{Name: "empty"}}, BagOptions{}); err == nil ||
		err.Error() != "flight empty has no rows" {
		t.Errorf("a flight without rows: error %v", err)
	}
}

// The same flights make the same bytes.
func TestBagsAreReproducible(t *testing.T) {
	var first []byte
	for range 2 {
		dir := filepath.Join(t.TempDir(), "b")
		if err := WriteBag(dir, []quad.Flight{mustRead(t, zigzag)}, BagOptions{}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "b_0.mcap"))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(data, first) {
			t.Fatal("two bags of one flight differ")
		}
		first = data
	}
}
