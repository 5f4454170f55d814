package rotorfit

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"vnd/pkg/robot/rotors"
)

// Columns of a flight: seconds, the measured state, motors. A column vbat, V, may follow; any others are left.
var (
	stateColumns = strings.Split("px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz", ",")
	motorColumns = strings.Split("m1,m2,m3,m4", ",")
)

// ReadAll reads flights: CSV files, plain or .gz, and all those in folders, in the order of their names.
func ReadAll(paths []string) ([]*rotors.Flight, error) {
	var flights []*rotors.Flight
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			files = nil
			entries, err := os.ReadDir(path)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if strings.HasSuffix(e.Name(), ".csv") || strings.HasSuffix(e.Name(), ".csv.gz") {
					files = append(files, filepath.Join(path, e.Name()))
				}
			}
			if len(files) == 0 {
				return nil, fmt.Errorf("%s: no .csv or .csv.gz in this folder", path)
			}
		}
		for _, file := range files {
			f, err := ReadFile(file)
			if err != nil {
				return nil, err
			}
			flights = append(flights, f)
		}
	}
	return flights, nil
}

// ReadFile reads one flight. Errors name the file and the line.
func ReadFile(path string) (*rotors.Flight, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r = z
	}
	f, err := Read(r, Stem(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.File = path
	return f, nil
}

// Stem is a flight's name: that of its file up to ".csv".
func Stem(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".csv")
	return name
}

// Read reads one flight and refuses what is no recording of rotors, in words.
func Read(r io.Reader, name string) (*rotors.Flight, error) {
	in := csv.NewReader(bufio.NewReaderSize(r, 1<<16))
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("line 1: no header: the file is empty")
	}
	if err != nil {
		return nil, atLine(err, 1, nil, nil)
	}
	in.ReuseRecord = true
	columns, volts, err := columnsOf(header)
	if err != nil {
		return nil, fmt.Errorf("line 1: %w; the file has %.300q", err, strings.Join(header, ","))
	}
	f := &rotors.Flight{Name: name}
	row := make([]float64, len(columns))
	for line := 1; ; {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, atLine(err, line+1, record, header)
		}
		line, _ = in.FieldPos(0)
		for i, at := range columns {
			x, err := strconv.ParseFloat(strings.TrimSpace(record[at]), 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("line %d: %s is %.40q, want a finite number", line, header[at], record[at])
			}
			row[i] = x
		}
		if err := appendRow(f, row, volts); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	return f, finish(f)
}

// atLine names the line of an error of CSV; line is that of one without a line of its own, such as of gzip.
func atLine(err error, line int, record, header []string) error {
	at, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case !ok:
		return fmt.Errorf("line %d: %w", line, err)
	case errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf("line %d: %d fields, want %d as in line 1", at.Line, len(record), len(header))
	}
	return fmt.Errorf("line %d, column %d: %w", at.Line, at.Column, at.Err)
}

// columnsOf returns where time, state, motors and, if it is there, the battery stand. It trims the names.
func columnsOf(header []string) (columns []int, volts bool, err error) {
	for i := range header {
		header[i] = strings.TrimSpace(strings.TrimPrefix(header[i], "\ufeff"))
	}
	for _, name := range slices.Concat([]string{"t"}, stateColumns, motorColumns, []string{"vbat"}) {
		at := slices.Index(header, name)
		switch {
		case at < 0 && name == "vbat":
			return columns, false, nil
		case at < 0 && slices.Contains(motorColumns, name):
			return nil, false, fmt.Errorf("no column %s: rotor speeds or motor commands are needed in m1…m4", name)
		case at < 0:
			return nil, false, fmt.Errorf("no column %s", name)
		case slices.Contains(header[at+1:], name):
			return nil, false, fmt.Errorf("column %s appears twice", name)
		}
		columns = append(columns, at)
	}
	return columns, true, nil
}

// Bounds of what a row may hold.
const (
	maxSpeedOfMotor = 2e4  // rad/s
	normTolerance   = .02  // of a quaternion
	maxVolts        = 100. // V
)

// bounds of the state's channels, far beyond what flies: larger numbers are of another unit, or garbage.
var bounds = [Channels]struct {
	most float64
	unit string
}{{1e8, "m"}, {1e4, "m/s"}, {2, "of a unit quaternion"}, {1e5, "rad/s"}}

// appendRow takes t, state, motors and volts in.
func appendRow(f *rotors.Flight, row []float64, volts bool) error {
	n := len(f.Time)
	x := [rotors.Measured]float64(row[1:])
	for c, at := range offsets {
		for i, v := range x[at:][:3] {
			if b := bounds[c]; math.Abs(v) > b.most {
				return fmt.Errorf("%s is %g, want at most %g %s", stateColumns[at+i], v, b.most, b.unit)
			}
		}
	}
	norm := math.Sqrt(x[3]*x[3] + x[4]*x[4] + x[5]*x[5] + x[6]*x[6])
	if math.Abs(norm-1) > normTolerance {
		return fmt.Errorf("attitude qw…qz has norm %.3g, want 1", norm)
	}
	same := 0.
	for i := 3; i < 7; i++ {
		x[i] /= norm
		if n > 0 {
			same += x[i] * f.State[n-1][i]
		}
	}
	for i := 3; i < 7 && same < 0; i++ { // one sign along the flight
		x[i] = -x[i]
	}
	motors := [4]float64(row[1+rotors.Measured:])
	for i, m := range motors {
		if m < 0 || m > maxSpeedOfMotor {
			return fmt.Errorf("m%d is %g, want 0…1 of commands or 0…%g rad/s of speeds", i+1, m, maxSpeedOfMotor)
		}
	}
	f.Time, f.State, f.Motors = append(f.Time, row[0]), append(f.State, x), append(f.Motors, motors)
	if n > 0 && !(f.Time[n] > f.Time[n-1]) {
		return fmt.Errorf("t is %g s after %g s, want it to rise", f.Time[n], f.Time[n-1])
	}
	if volts {
		v := row[len(row)-1]
		if !(v > 0 && v < maxVolts) {
			return fmt.Errorf("vbat is %g, want volts", v)
		}
		f.Volts = append(f.Volts, v)
	}
	return nil
}

// gapShare is how much longer than usual a step of time may be before it is a gap.
const gapShare = 1.5

// finish finds the stretches without a gap and checks rates against the attitude.
func finish(f *rotors.Flight) error {
	n := len(f.Time)
	if n < 2 {
		return fmt.Errorf("line %d: %d rows, want at least 2", n+1, n)
	}
	dt := Period(f)
	begin := 0
	for i := 1; i <= n; i++ {
		if i == n || f.Time[i]-f.Time[i-1] > gapShare*dt {
			f.Stretches = append(f.Stretches, [2]int{begin, i})
			begin = i
		}
	}
	if err := cmp.Or(checkMotors(f), checkVelocity(f)); err != nil {
		return err
	}
	return checkRates(f, dt)
}

// checkMotors refuses the widths of pulses: numbers of µs from 1000 on, of which many are whole, which speeds are not.
// Between two such a logger may have interpolated.
func checkMotors(f *rotors.Flight) error {
	const least, most = 900, 2200 // µs
	const share = .25             // that is whole
	low, high, whole := f.Motors[0][0], f.Motors[0][0], 0
	for _, row := range f.Motors {
		for _, m := range row {
			if m < least || m > most {
				return nil
			}
			if low, high = min(low, m), max(high, m); m == math.Trunc(m) {
				whole++
			}
		}
	}
	if low == high || float64(whole) < share*4*float64(len(f.Motors)) { // they tell nothing, or are speeds
		return nil
	}
	return errors.New("m1…m4 are whole numbers of 1000 to 2000, or between such, as PWM in µs: " +
		"want (µs − 1000)/1000 as commands with vbat, or speeds in rad/s")
}

// Period is the median step of time of a flight, s.
func Period(f *rotors.Flight) float64 {
	steps := make([]float64, len(f.Time)-1)
	for i := range steps {
		steps[i] = f.Time[i+1] - f.Time[i]
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

// stride is the number of rows over which velocities and rates are compared with what they integrate to.
const stride = 4

// far is the factor from which on two such have different units.
const far = 5.

// checkVelocity refuses velocities in another unit than the positions. Jumps and noise of either pass.
func checkVelocity(f *rotors.Flight) error {
	var both, own, moved float64 // Σ v·Δp/Δt, Σ v², Σ (Δp/Δt)²
	for _, s := range f.Stretches {
		for k := s[0]; k+stride < s[1]; k += stride {
			a, b := &f.State[k], &f.State[k+stride]
			for i := range 3 {
				v, slope := (a[7+i]+b[7+i])/2, (b[i]-a[i])/(f.Time[k+stride]-f.Time[k])
				both, own, moved = both+v*slope, own+v*v, moved+slope*slope
			}
		}
	}
	const still = 1e-2 // m²/s²
	count := float64(len(f.Time)) / stride
	switch gain := both / own; {
	case own == 0 && moved > still*count:
		return errors.New("vx…vz are all 0, and px…pz move: want the velocity in the world, m/s")
	case max(own, moved) > still*count && (gain < 1/far || gain > far) && both > .5*math.Sqrt(own*moved):
		return fmt.Errorf("px…pz move %.3g times as fast as vx…vz say: want m and m/s", gain)
	}
	return nil
}

// checkRates refuses body rates that do not integrate into the attitude: degrees, or another frame.
func checkRates(f *rotors.Flight, dt float64) error {
	var both, own, turned float64 // Σ w·Δq/dt, Σ w², Σ (Δq/dt)²
	for _, s := range f.Stretches {
		for k := s[0]; k+stride < s[1]; k += stride {
			a, b := f.State[k], f.State[k+stride]
			d := difference([4]float64(a[3:7]), [4]float64(b[3:7]))
			for i := range 3 {
				w := (a[10+i] + b[10+i]) / 2
				rate := d[i] / (stride * dt)
				both, own, turned = both+w*rate, own+w*w, turned+rate*rate
			}
		}
	}
	const still = 1e-2 // rad²/s²
	if count := float64(len(f.Time)) / stride; turned < still*count && own < still*count {
		return nil // hardly turned: nothing to compare
	}
	gain := both / own
	switch rad := math.Pi / 180; {
	case own == 0:
		return errors.New("wx…wz are all 0, and the attitude turns: want body rates in rad/s")
	case gain > rad/2 && gain < 2*rad:
		return errors.New("wx…wz are 57.3 times what the attitude turns: degrees per second, want rad/s")
	case gain < 1/far || gain > far || both < .3*math.Sqrt(own*turned):
		return fmt.Errorf("wx…wz do not integrate into the attitude (gain %.3g, correlation %.2g): "+
			"want body rates in rad/s, FLU, and q from body to world", gain, both/math.Sqrt(own*turned))
	}
	return nil
}

// difference is the rotation vector, rad, of a⁻¹ ⊗ b for small angles.
func difference(a, b [4]float64) (d [3]float64) {
	d[0] = a[0]*b[1] - a[1]*b[0] - a[2]*b[3] + a[3]*b[2]
	d[1] = a[0]*b[2] - a[2]*b[0] - a[3]*b[1] + a[1]*b[3]
	d[2] = a[0]*b[3] - a[3]*b[0] - a[1]*b[2] + a[2]*b[1]
	sign := 2.
	if a[0]*b[0]+a[1]*b[1]+a[2]*b[2]+a[3]*b[3] < 0 {
		sign = -2
	}
	for i := range d {
		d[i] *= sign
	}
	return d
}
