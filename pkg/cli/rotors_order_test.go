package cli

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/robot"
	"vnd/pkg/robot/rotors"
)

// simulated is a flight CSV of the default airframe, levelled roughly under noisy motors. column writes motor i.
func simulated(t *testing.T, rows int, column func(m [4]float64, i int) float64) []byte {
	t.Helper()
	var a rotors.Airframe
	param.Default(&a)
	m, err := a.Model(.02, .02)
	if err != nil {
		t.Fatal(err)
	}
	sys, rng := rotors.NewSystem[float64](m), rand.New(rand.NewPCG(1, 2))
	d, s := sys.Dims(), robot.Settled(sys)
	x, u, none := make([]float64, d.Inputs), make([]float64, d.Action), make([]float64, d.Tangent)
	var out bytes.Buffer
	out.WriteString("t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,m1,m2,m3,m4,vbat\n")
	for k := range rows {
		sys.Inputs(1, s, u, x)
		up, w := x[3:6], x[6:9]
		pull := []float64{-.1 * s[9], -.05*up[1] - .01*w[0], .05*up[0] - .01*w[1], -.05 * w[2]}
		for j := range pull {
			pull[j] += .02 * rng.NormFloat64()
		}
		clear(u)
		rotors.CollectiveVJP(1, 1, pull, u)
		fmt.Fprintf(&out, "%.2f", .02*float64(k))
		for _, v := range s[:rotors.Measured] {
			fmt.Fprintf(&out, ",%.9g", v)
		}
		for j := range u {
			u[j] = a.Hover() * (1 + u[j])
		}
		for j := range u {
			fmt.Fprintf(&out, ",%.9g", column([4]float64(u), j))
		}
		out.WriteString(",3.7\n")
		sys.Step(1, s, u, none, s)
	}
	return out.Bytes()
}

// fastGyro is a flight whose body rates are of a clock that runs 1 % fast.
func fastGyro(text []byte) []byte {
	const rates, beyond = 11, 14 // columns
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var out strings.Builder
	for k, line := range lines {
		cells := strings.Split(line, ",")
		if k > 0 {
			later := strings.Split(lines[min(k+k/100, len(lines)-1)], ",")
			copy(cells[rates:beyond], later[rates:beyond])
		}
		out.WriteString(strings.Join(cells, ",") + "\n")
	}
	return []byte(out.String())
}

func TestRotorsFitNamesWhatMotorsAre(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "m.json")
	asTheyAre := func(m [4]float64, i int) float64 { return m[i] }
	asPX4 := func(m [4]float64, i int) float64 { return m[[4]int{0, 2, 3, 1}[i]] }
	for name, c := range map[string]struct {
		rows   int
		column func(m [4]float64, i int) float64
		want   string // "" passes
	}{
		"our order":                  {600, asTheyAre, ""},
		"PX4's order":                {600, asPX4, "columns 1,4,2,3"},
		"PX4's, but too short":       {300, asPX4, ""},
		"a clock that runs 1 % fast": {600, asTheyAre, "gyro and attitude wander apart by"},
		"PWM": {600, func(m [4]float64, i int) float64 { return math.Round(1000 + 1000*m[i]) },
			"m1…m4 are whole numbers of 1000 to 2000"},
		"PWM that was filtered": {600, func(m [4]float64, i int) float64 { return 1000.37 + 1000*m[i] },
			"m1…m4 are taken for rad/s; pulses"},
		"PWM, every other row interpolated": {600, func() func(m [4]float64, i int) float64 {
			k := 0
			return func(m [4]float64, i int) float64 {
				if k++; (k-1)/4%2 == 1 {
					return math.Round(1000+1000*m[i]) + .37
				}
				return math.Round(1000 + 1000*m[i])
			}
		}(), "m1…m4 are whole numbers of 1000 to 2000"},
	} {
		t.Run(name, func(t *testing.T) {
			text := simulated(t, c.rows, c.column)
			if strings.Contains(c.want, "wander") {
				text = fastGyro(text)
			}
			flight := write(t, text, dir, name, "f.csv")
			_, complaints := runTool(t, "rotors", "fit", "--updates", "1", "--steps", "2", "--out", model, flight)
			if (complaints == "") != (c.want == "") || !strings.Contains(complaints, c.want) {
				t.Errorf("%q, want %q", complaints, c.want)
			}
		})
	}
}

func TestRotorsPredictWarnsBeyondTheFit(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "m.json")
	flight := write(t, head(t, 100), dir, "one", "f.csv")
	_, complaints := runTool(t, "rotors", "fit", "--updates", "1", "--steps", "5", "--out", model, flight)
	if complaints != "" {
		t.Fatal(complaints)
	}
	for steps, want := range map[string]string{"5": "", "6": "was fitted over 5 steps"} {
		t.Run(steps, func(t *testing.T) {
			_, complaints := runTool(t, "rotors", "predict", "--model", model, "--steps", steps, "--out", dir, flight)
			if (complaints == "") != (want == "") || !strings.Contains(complaints, want) {
				t.Errorf("%q, want %q", complaints, want)
			}
		})
	}
}
