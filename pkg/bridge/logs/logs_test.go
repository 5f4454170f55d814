package logs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// flown is a made-up flight: a log whose gyro, motors and attitude agree.
func flown(seconds int) *Log {
	l := &Log{Path: "a.log", Kind: "made up", About: record.NewAbout(), Throttle: bridge.Throttle{Hover: 0.5}}
	for c := range channels {
		l.Series[c] = Series{Source: c.String(), Width: widths[c]}
	}
	noise := rand.New(rand.NewPCG(1, 2))
	small := func() float64 { return 1e-4 * noise.NormFloat64() }
	rates := func(t float64) so3.Vec3 {
		return so3.Vec3{X: math.Sin(7*t) + 0.4*math.Sin(11.3*t), Y: math.Cos(6*t) - 0.5*math.Sin(13.1*t),
			Z: 0.3 * math.Sin(2*t)}
	}
	q := so3.Identity()
	const dt, lag = 0.005, 0.03
	for k := range 200 * seconds {
		t := float64(k) * dt
		w := rates(t)
		if k%2 == 0 {
			l.Series[Attitude].add(t, []float64{q.W + small(), q.X, q.Y, q.Z})
			l.Series[Position].add(t, []float64{math.Sin(t) + small(), math.Cos(t) + small(), 1 + small()})
			l.Series[Rates].add(t, []float64{w.X + small(), w.Y + small(), w.Z + small()})
			a := rates(t + lag + dt).Sub(rates(t + lag - dt)).Scale(1 / (2 * dt))
			x, y := 0.01*a.X, 0.01*a.Y
			l.Series[Motors].add(t, []float64{0.5 - x - y, 0.5 - x + y, 0.5 + x + y, 0.5 + x - y})
			l.Series[Thrust].add(t, []float64{0.5})
			l.Series[Commands].add(t-0.02, []float64{w.X, w.Y, w.Z})
		}
		if k%40 == 0 {
			l.Series[Battery].add(t, []float64{16 - t/40})
		}
		q = q.Mul(so3.Exp(w.Scale(dt))).Normalize()
	}
	return l
}

var faulty = map[string]struct {
	change func(l *Log)
	want   string // name state: part of the detail or the cost
}{
	"nothing": {func(*Log) {}, ""},
	"no motors and no commands": {func(l *Log) { l.Series[Motors].T, l.Series[Thrust].T = nil, nil },
		"motors wrong: the log has position 100 Hz"},
	"no motors but commands": {func(l *Log) { l.Series[Motors].T = nil }, "motors missing: thrust and rates at 100 Hz"},
	"no position":            {func(l *Log) { l.Series[Position].T = nil }, "state wrong: no position"},
	"PWM in microseconds": {func(l *Log) { times(l, Motors, 1000) },
		"motors wrong: PWM out of its range"},
	"motors in another order": {func(l *Log) { reorder(&l.Series[Motors], defaultPX4) },
		"motor order wrong: m1 front right, m2 front left, m3 rear right, m4 rear left"},
	"no battery":           {func(l *Log) { l.Series[Battery].T = nil }, "battery missing: no voltage"},
	"battery in mV":        {func(l *Log) { times(l, Battery, 1000) }, "battery wrong: volts"},
	"gyro in °/s":          {func(l *Log) { times(l, Rates, degrees) }, "units wrong: 57.3 times"},
	"gyro converted twice": {func(l *Log) { times(l, Rates, 1/degrees) }, "units wrong: 57.3 times as fast"},
	"commands in °/s": {func(l *Log) { times(l, Commands, degrees) },
		"units wrong: commanded rates are in degrees"},
	"clocks that wander": {func(l *Log) {
		for i := range l.Series[Rates].T {
			l.Series[Rates].T[i] *= 1.005
		}
	}, "clock wrong: wander apart by"},
	"another gyro": {func(l *Log) { times(l, Rates, -1) }, "clock wrong: turns against the attitude about"},
	"one axis turned round": {func(l *Log) {
		for i := range l.Series[Rates].T {
			l.Series[Rates].Row(i)[2] *= -1
		}
	}, "clock wrong: turns against the attitude about z"},
	"positions in mm": {func(l *Log) {
		l.estimateVelocity()
		times(l, Position, 1000)
	}, "units wrong: the position moves 1e+03 times as fast"},
	"velocities in cm/s": {func(l *Log) {
		l.estimateVelocity()
		times(l, Velocity, 100)
	}, "units wrong: the position moves 0.01 times as fast"},
	"a position that jumps": {func(l *Log) {
		l.estimateVelocity()
		for i := 900; i < len(l.Series[Position].T); i++ {
			l.Series[Position].Row(i)[0] += 20
		}
	}, ""},
	"a frozen attitude": {func(l *Log) {
		for i := 1000; i < 1010; i++ {
			copy(l.Series[Attitude].Row(i), l.Series[Attitude].Row(999))
			copy(l.Series[Position].Row(i), l.Series[Position].Row(999))
		}
	}, "rows missing: position: 10 rows repeated from 10.000 to 10.090 s"},
	"a gyro with a gap filled in": {func(l *Log) {
		s := &l.Series[Rates]
		for i := 1001; i < 1010; i++ {
			for j := range 3 {
				a, b := s.Row(1000)[j], s.Row(1010)[j]
				s.Row(i)[j] = a + (b-a)*float64(i-1000)/10
			}
		}
	}, "rows missing: body rates: 9 rows interpolated from 10.010 to 10.090 s"},
	"a gyro led on at the end": {func(l *Log) {
		s := &l.Series[Rates]
		for i := len(s.T) - 9; i < len(s.T); i++ {
			for j := range 3 {
				s.Row(i)[j] = 2*s.Row(i - 1)[j] - s.Row(i - 2)[j]
			}
		}
	}, "rows missing: extrapolated"},
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	for name, c := range faulty {
		t.Run(name, func(t *testing.T) {
			l := flown(20)
			c.change(l)
			l.estimateVelocity()
			holds := c.want == ""
			var all []string
			for _, f := range l.Check(0.02) {
				all = append(all, fmt.Sprintf("%s %s: %s: %s", f.Name, f.State, f.Detail, f.Cost))
				subject, text, _ := strings.Cut(c.want, ": ")
				line := all[len(all)-1]
				holds = holds || strings.HasPrefix(line, subject+": ") && strings.Contains(line, text)
				if c.want == "" && f.State != Good {
					t.Errorf("found %s", line)
				}
			}
			if !holds {
				t.Errorf("found\n%s\nwant %s", strings.Join(all, "\n"), c.want)
			}
		})
	}
}

func times(l *Log, c Channel, factor float64) {
	for i := range l.Series[c].V {
		l.Series[c].V[i] *= factor
	}
}

func TestMotorOrderIsFoundInAllOrders(t *testing.T) {
	for code := range 256 {
		order := [4]int{code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6}
		if o := (Order{Corners: order}); !o.Known() {
			continue
		}
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			l := flown(8)
			s := &l.Series[Motors]
			for i := range s.T {
				old := [4]float64(s.Row(i))
				for column, corner := range order {
					s.Row(i)[column] = old[corner]
				}
			}
			o, ok := l.MotorOrder()
			if !ok || o.Corners != order || math.Abs(o.Lag-0.03) > 0.011 {
				t.Fatalf("found %v, lag %.3f, %v", o.Corners, o.Lag, ok)
			}
			var flag [4]int
			if _, err := fmt.Sscanf(o.Flag(), "%d,%d,%d,%d", &flag[0], &flag[1], &flag[2], &flag[3]); err != nil {
				t.Fatal(err)
			}
			if err := l.Apply(Options{Motors: flag}); err != nil {
				t.Fatal(err)
			}
			if o, _ := l.MotorOrder(); !o.Right() {
				t.Errorf("after %v the order is %v", flag, o.Corners)
			}
		})
	}
}

func TestReadyTakesClocksTogether(t *testing.T) {
	for _, late := range []float64{-0.12, -0.01, 0.03, 0.2} {
		t.Run(fmt.Sprint(late), func(t *testing.T) {
			l := flown(20)
			want := slices.Clone(l.Series[Rates].T)
			l.Shift(-late)
			if _, err := l.Ready(0.02); err != nil {
				t.Fatal(err)
			}
			if off := l.Series[Rates].T[100] - want[100]; math.Abs(off) > 0.003 {
				t.Errorf("the gyro is %.4f s off", off)
			}
		})
	}
}

func TestFlightOfPX4(t *testing.T) {
	l, err := Read("ulog/testdata/takeoff.ulg", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Ready(0.02); err != nil {
		t.Fatal(err)
	}
	f, err := l.Flight(0.02)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Segments) != 1 || f.Rows() < 400 || !f.Motors || !f.Battery || !f.Commands {
		t.Fatalf("%d segments, %d rows, %v", len(f.Segments), f.Rows(), f)
	}
	thrust, climbed := 0.0, 0.0
	for i, r := range f.Segments[0] {
		if i < f.Rows()/2 {
			thrust += r.Command.Thrust / float64(f.Rows()/2)
		}
		climbed = max(climbed, r.State.P.Z)
		if up := r.State.Q.ZAxis().Z; up < 0.95 || r.Battery < 15 || r.Battery > 17 {
			t.Fatalf("at %.2f s: up %.2f, %.1f V", r.T, up, r.Battery)
		}
		for _, m := range r.Motors {
			if i < f.Rows()/2 && (m < 0.3 || m > 0.7) {
				t.Fatalf("at %.2f s: motors %v", r.T, r.Motors)
			}
		}
	}
	if math.Abs(thrust-quad.Gravity) > 0.5 || math.Abs(climbed-2.16) > 0.02 {
		t.Errorf("thrust %.2f m/s² on the mean, climbed to %.2f m", thrust, climbed)
	}
}

// TestDataFlashGivesTheFlightOfULog reads one flight in two formats.
func TestDataFlashGivesTheFlightOfULog(t *testing.T) {
	var flights [2][]Row
	var starts [2]float64
	for i, path := range []string{"ulog/testdata/takeoff.ulg", "dataflash/testdata/takeoff.bin"} {
		l, err := Read(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Ready(0.02); err != nil {
			t.Fatal(err)
		}
		f, err := l.Flight(0.02)
		if err != nil {
			t.Fatal(err)
		}
		flights[i], starts[i] = f.Segments[0], f.Segments[0][0].T
	}
	if a, b := len(flights[0]), len(flights[1]); a != b || math.Abs(starts[0]-starts[1]) > 1e-5 {
		t.Fatalf("%d and %d rows, from %.3f and %.3f s", a, b, starts[0], starts[1])
	}
	for i, a := range flights[0] {
		b := flights[1][i]
		for name, off := range map[string]float64{"position": 1e5 * a.State.P.Sub(b.State.P).Norm(),
			"velocity": 1e5 * a.State.V.Sub(b.State.V).Norm(), "rates": 1e5 * a.Rates.Sub(b.Rates).Norm(),
			"attitude": 2000 * so3.Log(a.State.Q.Conj().Mul(b.State.Q)).Norm(),
			"motors":   900 * (a.Motors[1] - b.Motors[1]),
			"commands": 1e4 * a.Command.Rates.Sub(b.Command.Rates).Norm(), "battery": a.Battery - b.Battery} {
			if math.Abs(off) > 1 {
				t.Fatalf("row %d: %s differs: %+v and %+v", i, name, a, b)
			}
		}
	}
}

// TestFramesOfPX4 takes the first sample of the log, as pyulog prints it, to our frames.
func TestFramesOfPX4(t *testing.T) {
	l, err := Read("ulog/testdata/takeoff.ulg", nil)
	if err != nil {
		t.Fatal(err)
	}
	q := bridge.SwapAttitude(so3.Quat{W: 1})
	if up := q.ZAxis(); math.Abs(up.Z-1) > 1e-12 {
		t.Fatalf("level in NED points its z axis to %v", up)
	}
	for c, rate := range map[Channel]float64{Position: 10, Attitude: 20, Rates: 50, Motors: 10, Commands: 50} {
		if got := l.Series[c].Rate(); math.Abs(got-rate) > 0.1*rate {
			t.Errorf("%s at %.1f Hz, want %g", c, got, rate)
		}
	}
	if !l.Ordered || l.Throttle.Hover != 0.5 {
		t.Errorf("ordered %v, hover %v", l.Ordered, l.Throttle.Hover)
	}
}

// Parameters that no vehicle flies with leave thrust a number.
func TestWildSpinOfArdupilotsLog(t *testing.T) {
	for _, spin := range [][3]float64{{0, 0, 0}, {0.5, 0.9, 1}, {0.9, 0.1, 0.5}, {-3, 0.9, 0.5},
		{math.NaN(), 1, 0.5}, {0.15, 0.95, math.Inf(1)}} {
		l := &Log{About: record.NewAbout()}
		for i, name := range []string{"MOT_SPIN_MIN", "MOT_SPIN_MAX", "MOT_THST_EXPO"} {
			l.About.Parameters[name] = spin[i]
		}
		l.About.Parameters["MOT_THST_HOVER"] = 0.3
		if err := finishDataFlash(l, nil); err != nil {
			t.Fatal(err)
		}
		if least := l.Throttle.Least; !(least >= 0 && least < 1) {
			t.Errorf("%v: least %g", spin, least)
		}
	}
}

// A hover that the user knows better has another share of thrust at no throttle.
func TestThrottleOfArdupilotsLog(t *testing.T) {
	l := &Log{About: record.NewAbout()}
	for name, x := range map[string]float64{"MOT_THST_HOVER": 0.3, "MOT_SPIN_MIN": 0.15, "MOT_SPIN_MAX": 0.95,
		"MOT_THST_EXPO": 0.5} {
		l.About.Parameters[name] = x
	}
	if err := finishDataFlash(l, nil); err != nil {
		t.Fatal(err)
	}
	spin := bridge.Spin{Min: 0.15, Max: 0.95, Expo: 0.5}
	for _, hover := range []float64{0.3, 0.4} {
		want := bridge.Throttle{Hover: hover, Least: spin.Least(hover)}
		if got := l.Throttle; got.Hover != hover || math.Abs(got.Least-want.Least) > 1e-12 || !(got.Least > 0.1) {
			t.Errorf("%+v, expected %+v", got, want)
		}
		if err := l.Apply(Options{Hover: 0.4}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefusesWhatIsNoLog(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "text": "hello", "zeros": strings.Repeat("\x00", 100)} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/a.log"
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path, nil); err == nil || !strings.Contains(err.Error(), "no log of a known kind") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestGapsOfYearsAreNotWalkedThrough reads a table whose clock jumps, and one whose clock has steps longer than Δt.
func TestGapsOfYearsAreNotWalkedThrough(t *testing.T) {
	l := flown(4)
	l.estimateVelocity()
	for c := range channels {
		for i := range l.Series[c].T {
			if l.Series[c].T[i] > 2 {
				l.Series[c].T[i] += 1e12
			}
		}
	}
	f, err := l.Flight(0.02)
	if err != nil || len(f.Segments) == 0 || f.Segments[0][0].T > 2 {
		t.Errorf("%d segments, %v", len(f.Segments), err)
	}
	for c := range channels {
		for i := range l.Series[c].T {
			l.Series[c].T[i] = math.Nextafter(1e300, math.Inf(1)) + float64(i)*1e285
		}
	}
	if _, err := l.Flight(0.02); err == nil {
		t.Error("a flight out of nothing")
	}
}
