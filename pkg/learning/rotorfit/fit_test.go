package rotorfit

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vnd/pkg/robot/rotors"
)

var speeds = rotors.Config{Input: rotors.Speeds, Period: .01, Motor: 1500}

// simulated returns short flights of a robot whose numbers differ from those that a fit begins from.
func simulated(t *testing.T, rows int) []*rotors.Flight {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	robot, err := rotors.New(speeds)
	if err != nil {
		t.Fatal(err)
	}
	for i := range robot.Theta {
		robot.Theta[i] = 1.1*robot.Theta[i] + .02*r.NormFloat64()
	}
	var flights []*rotors.Flight
	var starts [rotors.Lanes]rotors.Start
	for l := range starts {
		f := &rotors.Flight{Name: "simulated", Stretches: [][2]int{{0, rows}}}
		for k := range rows {
			var m [4]float64
			for i := range m {
				m[i] = 1500 * (1 + .02*math.Sin(.2*float64(k)+float64(i*l)))
			}
			f.Time, f.Motors = append(f.Time, .01*float64(k)), append(f.Motors, m)
		}
		f.State = make([][rotors.Measured]float64, rows)
		f.State[0] = [rotors.Measured]float64{3: 1, 7: r.NormFloat64(), 8: r.NormFloat64(), 9: r.NormFloat64(),
			10: r.NormFloat64(), 11: r.NormFloat64(), 12: r.NormFloat64()}
		flights, starts[l] = append(flights, f), rotors.Start{Flight: f}
	}
	roll := robot.NewRollout(rows - 1)
	roll.Forward(starts, rows-1)
	for k := 1; k < rows; k++ {
		for l, f := range flights {
			f.State[k] = rotors.MeasuredOf(roll.After(k), l)
		}
	}
	return flights
}

func meanError(models []*rotors.Model, flights []*rotors.Flight, steps int) (mean [Channels]float64) {
	for _, f := range flights {
		p := rollOut(models, f, f.Starts(0, 100, steps), steps)
		for c, e := range Errors(&p.States[0][steps-1], &f.State[steps]) {
			mean[c] += e / float64(len(flights))
		}
	}
	return mean
}

func fitted(t *testing.T, flights []*rotors.Flight, threads, updates int) *rotors.Model {
	t.Helper()
	m, err := rotors.New(speeds)
	if err != nil {
		t.Fatal(err)
	}
	err = Run(context.Background(), m, flights, Options{Steps: 15, Updates: updates, Blocks: 2, Rate: .01, Even: 1,
		Weights: [4]float64{1, 1, 1, 1}, Seed: 1, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFitFindsASimulatedRobot(t *testing.T) {
	flights := simulated(t, 31)
	begin, err := rotors.New(speeds)
	if err != nil {
		t.Fatal(err)
	}
	held := flights[24:]
	before := meanError([]*rotors.Model{begin}, held, 30)
	after := meanError([]*rotors.Model{fitted(t, flights[:24], 1, 250)}, held, 30)
	for c, name := range Names {
		t.Logf("%s: %.4f, fitted %.4f", name, before[c], after[c])
		if after[c] > .25*before[c] {
			t.Errorf("%s: error %.4f after 30 steps, %.4f before the fit", name, after[c], before[c])
		}
	}
}

func TestThreadsDoNotChangeAFit(t *testing.T) {
	flights := simulated(t, 17)
	one, three := fitted(t, flights, 1, 3), fitted(t, flights, 3, 3)
	if !slices.Equal(one.Theta, three.Theta) {
		t.Error("numbers differ")
	}
}

func TestEnsembleOfOneModelTwiceIsThatModel(t *testing.T) {
	f := simulated(t, 17)[0]
	m, _ := rotors.New(speeds)
	one, two := rollOut([]*rotors.Model{m}, f, f.Starts(0, 1, 5), 5),
		rollOut([]*rotors.Model{m, m}, f, f.Starts(0, 1, 5), 5)
	for i := range one.States {
		for h := range one.States[i] {
			for j, x := range one.States[i][h] {
				if math.Abs(x-two.States[i][h][j]) > 1e-12*(1+math.Abs(x)) {
					t.Fatalf("start %d, step %d, entry %d: %g and %g", i, h+1, j, x, two.States[i][h][j])
				}
			}
		}
	}
}

func TestPredictionsThatDivergeAreNotWritten(t *testing.T) {
	p := &Predictions{Flight: &rotors.Flight{File: "a.csv"}, Starts: []int{7},
		States: [][][rotors.Measured]float64{{{3: 1}, {8: math.NaN()}}}}
	const want = "a.csv: the prediction from row 7 is not finite after 2 steps"
	if err := p.Write(&bytes.Buffer{}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestModelsAreKept(t *testing.T) {
	m, _ := rotors.New(speeds)
	m.Theta[3] = .125
	path := filepath.Join(t.TempDir(), "m.json")
	if err := Save(path, &Predictor{Models: []*rotors.Model{m, m}}); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Models) != 2 || !slices.Equal(got.Models[1].Theta, m.Theta) || *got.Config() != m.Config {
		t.Errorf("%+v", got)
	}
}

const header = "t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,m1,m2,m3,m4"

// turning is a flight that turns about x at 2 rad/s, as CSV lines; change may alter the fields of a line.
func turning(change func(k int, f []string) []string) string {
	var b bytes.Buffer
	b.WriteString(header + "\n")
	for k := range 60 {
		t := .01 * float64(k)
		fields := strings.Fields("t 0 0 1 qw qx 0 0 0 0 0 2 0 0 1500 1500 1500 1500")
		fields[0], fields[4], fields[5] = number(t), number(math.Cos(t)), number(math.Sin(t))
		if change != nil {
			fields = change(k, fields)
		}
		b.WriteString(strings.Join(fields, ",") + "\n")
	}
	return b.String()
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func set(at int, value string, row int) func(int, []string) []string {
	return func(k int, f []string) []string {
		if row < 0 || k == row {
			f[at] = value
		}
		return f
	}
}

// moving makes a flight of 1 m/s along x, its positions and velocities in these units.
func moving(position, velocity float64) func(int, []string) []string {
	return func(k int, f []string) []string {
		f[1], f[8] = number(.01*float64(k)*position), number(velocity)
		return f
	}
}

func TestReadTakesWhatIsMeant(t *testing.T) {
	for name, text := range map[string]string{
		"a byte order mark": "\ufeff" + turning(nil),
		"spaces and ends":   strings.ReplaceAll(turning(nil), "\n", " \r\n"),
		"moving":            turning(moving(1, 1)),
		"a jump": turning(func(k int, f []string) []string {
			if f = moving(1, 1)(k, f); k > 30 {
				f[1] = "100"
			}
			return f
		}),
	} {
		t.Run(name, func(t *testing.T) {
			if f, err := Read(strings.NewReader(text), name); err != nil || len(f.Time) != 60 {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestReadRefusesInOneClearLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "line 1: no header"},
		"no motors": {header[:len(header)-11] + "thrust\n", "no column m1: rotor speeds or motor"},
		"no rates": {strings.Replace(header, "wy", "x", 1) + "\n",
			`line 1: no column wy; the file has "t,px`},
		"a column twice":      {header + ",px\n", "line 1: column px appears twice"},
		"another separator":   {strings.ReplaceAll(header, ",", ";") + "\n", "line 1: no column t"},
		"no text":             {"\x7fELF\x00\x01\n", `the file has "\x7fELF\x00\x01"`},
		"a quote":             {turning(set(8, `0"`, 5)), "line 7, column "},
		"a blank line before": {"\n" + turning(set(8, "x", 5)), `line 8: vx is "x"`},
		"huge position":       {turning(set(2, "1e200", 5)), "line 7: py is 1e+200, want at most 1e+08 m"},
		"huge velocity":       {turning(set(10, "-1e5", 5)), "line 7: vz is -100000, want at most 10000 m/s"},
		"rates of 0":          {turning(set(11, "0", -1)), "wx…wz are all 0, and the attitude turns"},
		"velocities of 0":     {turning(moving(1, 0)), "vx…vz are all 0, and px…pz move"},
		"mm":                  {turning(moving(1000, 1)), "px…pz move 1e+03 times as fast as vx…vz"},
		"mm/s":                {turning(moving(1, 1000)), "px…pz move 0.001 times as fast as vx…vz"},
		"not a number":        {turning(set(8, "nan", 5)), "line 7: vx is \"nan\", want a finite number"},
		"missing field": {turning(func(k int, f []string) []string { return f[:18-k%2] }),
			"line 3: 17 fields, want 18 as in line 1"},
		"time":             {turning(set(0, "0.01", 9)), "line 11: t is 0.01 s after 0.08 s, want it to rise"},
		"attitude":         {turning(set(4, "0.2", 3)), "line 5: attitude qw…qz has norm"},
		"negative PWM":     {turning(set(15, "-3", 2)), "line 4: m2 is -3, want 0…1"},
		"PWM out of range": {turning(set(15, "65535", 2)), "line 4: m2 is 65535, want 0…1"},
		"degrees": {turning(set(11, "114.6", -1)),
			"57.3 times what the attitude turns: degrees per second"},
		"wrong frame": {turning(set(11, "-2", -1)), "do not integrate into the attitude"},
		"one row":     {strings.Join(strings.SplitAfter(turning(nil), "\n")[:2], ""), "line 2: 1 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.text), name)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.want)
			}
		})
	}
}

func TestGapsEndStretches(t *testing.T) {
	f, err := Read(strings.NewReader(turning(func(k int, f []string) []string {
		if k >= 20 {
			f[0] = number(.01*float64(k) + .05)
		}
		return f
	})), "gap")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Stretches, [][2]int{{0, 20}, {20, 60}}) {
		t.Errorf("stretches %v", f.Stretches)
	}
	if got := len(f.Starts(10, 5, 8)); got != 1+5 {
		t.Errorf("%d starts", got)
	}
}

func TestTypicalFindsWhatTheMotorsHold(t *testing.T) {
	flights := simulated(t, 5)
	c, err := Typical(flights, 0, 0, 0)
	if err != nil || c.Input != rotors.Speeds || c.Period != .01 || math.Abs(c.Motor-1500) > 30 {
		t.Errorf("%+v, %v", c, err)
	}
	for want, motor := range map[string]float64{"a.csv: m1…m4 are motor commands and there is no column vbat": .7,
		"a.csv: m1…m4 are up to 70, want commands of 0…1": 70} {
		for _, f := range flights {
			f.File = "a.csv"
			for k := range f.Motors {
				f.Motors[k] = [4]float64{motor, motor, motor, motor}
			}
		}
		if _, err = Typical(flights, 0, 0, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for k := range flights[0].Time {
		flights[0].Time[k] *= 10
		flights[0].Motors[k] = [4]float64{1500, 1500, 1500, 1500}
	}
	if _, err = Typical(flights[:1], 0, 0, 0); err == nil || !strings.Contains(err.Error(), "a.csv: period Δt is 0.1") {
		t.Errorf("a slow recording: %v", err)
	}
}
