package logs

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
)

// TestTableInOtherUnitsIsTheFlight reads one flight as a table in NED, mm and degrees, and as a uSD log.
func TestTableInOtherUnitsIsTheFlight(t *testing.T) {
	m, err := ReadMapping("table/testdata/ned.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read("table/testdata/ned.csv", m)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Read("usd/testdata/figure8.usd", nil)
	if err != nil {
		t.Fatal(err)
	}
	for c, slack := range map[Channel]float64{Position: 1e-4, Velocity: 1e-3, Rates: 1e-4, Motors: 3e-5,
		Battery: 1e-2} {
		a, b := &l.Series[c], &want.Series[c]
		if c == Battery {
			if math.Abs(a.V[0]-b.V[0]) > slack {
				t.Errorf("%v V, want %v", a.V[0], b.V[0])
			}
			continue
		}
		for i := range a.V {
			if math.Abs(a.V[i]-b.V[i]) > slack {
				t.Fatalf("%s: number %d is %v, want %v", c, i, a.V[i], b.V[i])
			}
		}
	}
	for i := range l.Series[Attitude].T {
		a, b := quat(l.Series[Attitude].Row(i)), quat(want.Series[Attitude].Row(i))
		if off := so3.Log(a.Conj().Mul(b)).Norm(); off > 1e-4 && off < 2*math.Pi-1e-4 {
			t.Fatalf("attitude %d is %.5f rad off", i, off)
		}
	}
}

func TestMappingIsCheckedByNameUnitAndFrame(t *testing.T) {
	const good = "time: {columns: [t]}\n"
	for name, c := range map[string]struct{ text, want string }{
		"good":           {good + "rates: {columns: [a, b, c], unit: deg/s, frame: frd}", ""},
		"no time":        {"rates: {columns: [a, b, c]}", "time has 0 columns, expected 1"},
		"an unknown key": {good + "gyro: {columns: [a, b, c]}", "line 2: field gyro not found"},
		"no YAML":        {"time: [", "line 1"},
		"two columns":    {good + "rates: {columns: [a, b]}", "[a b]: 2 columns, expected 3"},
		"an unknown unit": {good + "rates: {columns: [a, b, c], unit: rpm}",
			`body rates has the unit "rpm", expected one of rad/s, deg/s`},
		"an unknown frame": {good + "position: {columns: [a, b, c], frame: eus}",
			`position has the frame "eus", expected enu or ned`},
		"two angles": {good + "attitude: {columns: [a, b]}",
			"attitude has 2 columns, expected w, x, y, z or roll"},
		"a quaternion in °": {good + "attitude: {columns: [a, b, c, d], unit: deg}",
			"attitude is a quaternion, expected no unit"},
		"no span": {good + "motors: {columns: [a, b, c, d], low: 2, high: 1}",
			"low 2 and high 1, expected low < high"},
		"a unit of time": {"time: {columns: [t], unit: h}", `time has the unit "h", expected one of s, ms, us, ns`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseMapping([]byte(c.text))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestAMappingsErrorsAreInWords(t *testing.T) {
	for text, want := range map[string]string{
		"nonsense":                   "m.yaml: line 1: cannot unmarshal !!str `nonsense` into a mapping",
		"time: {columns: [t]}\nw: 1": "m.yaml: line 2: field w not found in a mapping",
		"time: {column: [t]}":        "m.yaml: line 1: field column not found in a channel",
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("m.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadMapping("m.yaml"); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestTableWithoutTheMappedColumnsIsRefused(t *testing.T) {
	m, err := ParseMapping([]byte("time: {columns: [t]}\nrates: {columns: [p, q, z]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse("a.csv", strings.NewReader("t,p,q,r\n0,1,2,3\n"), m)
	if err == nil || err.Error() != `a.csv: no column "z" for body rates` {
		t.Errorf("got %v", err)
	}
}

const own14 = "t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz"

// TestTablesOfOursNeedNoMapping: the rates of a flight CSV are commands, those beside motors are measured.
func TestTablesOfOursNeedNoMapping(t *testing.T) {
	rows := func(n int, motors string) (text string) {
		for k := range n {
			text += fmt.Sprintf("%g,0,0,1,1,0,0,0,0,0,0,.1,.2,.3%s\n", .02*float64(k), motors)
		}
		return text
	}
	for name, c := range map[string]struct {
		text string
		has  []Channel
		not  Channel
	}{
		"motors": {own14 + ",m1,m2,m3,m4,vbat\n" + rows(30, ",-.004,1.003,.5,.5,4"),
			[]Channel{Rates, Motors, Battery}, Thrust},
		"a flight CSV": {"\ufeff" + own14 + ",thrust\r\n" + rows(30, ",19.62"), []Channel{Thrust, Commands}, Rates},
		"a state":      {own14 + "\n" + rows(30, ""), []Channel{Rates}, Commands},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Parse("a.csv", strings.NewReader(c.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, channel := range append(c.has, Position, Velocity, Attitude) {
				if !l.Has(channel) {
					t.Errorf("no %s", channel)
				}
			}
			if l.Has(c.not) {
				t.Errorf("%s", c.not)
			}
			if f, err := l.Flight(.02); err == nil {
				r := f.Segments[0][0]
				if f.Motors && r.Motors != [4]float64{0, 1, .5, .5} {
					t.Errorf("motors %v, expected 0 to 1", r.Motors)
				}
				if f.Commands && (math.Abs(r.Command.Thrust-19.62) > .02 || r.Command.Rates.Y != .2) {
					t.Errorf("command %v", r.Command)
				}
			} else if name != "a state" {
				t.Error(err)
			}
		})
	}
}

func TestNumbersBeyondAllVehiclesAreLeftOut(t *testing.T) {
	text := own14 + "\n0,0,0,1,1,0,0,0,0,0,0,0,0,0\n1,1e200,0,1,1,0,0,0,0,0,0,0,0,0\n"
	l, err := Parse("a.csv", strings.NewReader(text), nil)
	if err != nil || l.Refused[Position] != 1 || len(l.Series[Velocity].T) != 2 {
		t.Errorf("%v: %v", err, l)
	}
}

func TestAColumnThatAppearsTwiceIsNamed(t *testing.T) {
	_, err := Parse("a.csv", strings.NewReader(own14+",px\n"), nil)
	if err == nil || err.Error() != `a.csv:1: column "px" appears twice` {
		t.Errorf("got %v", err)
	}
}

// TestMergeFindsTheClock puts a blackbox-like log, whose clock is hours apart, to a recording of motion capture.
func TestMergeFindsTheClock(t *testing.T) {
	for _, offset := range []float64{-3.3, 5000.123} {
		t.Run(fmt.Sprint(offset), func(t *testing.T) {
			l, state := flown(30), flown(30)
			for c := range channels {
				for i := range l.Series[c].T {
					l.Series[c].T[i] += offset
				}
			}
			l.Series[Position], l.Series[Velocity], l.Series[Attitude] = Series{}, Series{}, Series{}
			s := &state.Series[Attitude] // motion capture saw the middle of the flight
			s.keep(func(i int) bool { return s.T[i] > 8 && s.T[i] < 22 })
			if err := l.Merge(state); err != nil {
				t.Fatal(err)
			}
			if off := l.Series[Rates].T[0]; math.Abs(off) > 0.003 {
				t.Errorf("the clock is %.4f s off", off)
			}
		})
	}
}

func TestMergeRefusesAnotherFlight(t *testing.T) {
	l, state := flown(20), flown(20)
	for i := range state.Series[Attitude].T {
		state.Series[Attitude].T[i] *= 1.37
	}
	err := l.Merge(state)
	if err == nil || !strings.Contains(err.Error(), "not the flight of a.log") {
		t.Errorf("got %v", err)
	}
	state.Series[Position].T = nil
	if err := l.Merge(state); err == nil || !strings.Contains(err.Error(), "no position; it has") {
		t.Errorf("got %v", err)
	}
	l.Series[Rates].T = nil
	if err := l.Merge(flown(5)); err == nil || !strings.Contains(err.Error(), "no body rates to find its clock by") {
		t.Errorf("got %v", err)
	}
}

func FuzzMapping(f *testing.F) {
	text, err := os.ReadFile("table/testdata/ned.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), "t,north,east,down,roll,pitch,yaw\n0,1,2,3,4,5,6\n")
	f.Add("time: {columns: [t]}\nmotors: {columns: [a, b, c, d], low: 1, high: 2}", "t,a,b,c,d\n0,1,2,3,4\n1,1,2,3,4\n")
	f.Fuzz(func(t *testing.T, text, log string) {
		m, err := ParseMapping([]byte(text))
		if err != nil || len(text) > 1<<12 {
			return
		}
		l, err := Parse("a.csv", strings.NewReader(log), m)
		if err != nil {
			return
		}
		l.Ready(0.02)
	})
}
