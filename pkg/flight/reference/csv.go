package reference

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"vnd/pkg/core/quad"
)

// CSV follows a table: header t,x,y,z, then perhaps yaw, then perhaps vx,vy,vz; s, m, rad, m/s. Times ascend and count
// from the first row. Between rows the path is the cubic of its ends' positions and velocities (Hermite); velocities
// that are not there are the slopes of parabolas through neighbouring rows, and 0 at both ends. If the last row still
// moves, the robot brakes behind it.
type CSV struct {
	File  string `param:"file" default:"" doc:"path of the table: in parameters and on the command line alone, never in a message"`
	Table string `param:"table" default:"" doc:"the table itself, in place of a file"`
}

// knot is a row: x, y, z, yaw and their velocities.
type knot struct {
	t    float64
	x, v [4]float64
}

type table struct {
	spec  CSV
	knots []knot
}

const (
	mostRows  = 1 << 20
	mostTable = 256 << 20 // bytes
	braking   = 2.0       // m/s², behind a table that ends at speed
	leastRow  = 1e-4
)

var headers = []string{"t,x,y,z", "t,x,y,z,yaw", "t,x,y,z,yaw,vx,vy,vz"}

// Kind implements Spec.
func (*CSV) Kind() string { return "csv" }

// Opens implements Opener.
func (s *CSV) Opens() string { return s.File }

// Build implements Spec.
func (s *CSV) Build() (Reference, error) {
	switch {
	case s.File == "" && s.Table == "":
		return nil, fmt.Errorf("parameter %q: is empty, expected the path of a table", "file")
	case s.Table != "" && s.File != "":
		return nil, fmt.Errorf("parameters %q and %q: both are set, expected one", "file", "table")
	case s.Table != "":
		knots, err := readKnots("table", strings.NewReader(s.Table))
		if err != nil {
			return nil, err
		}
		return &table{*s, knots}, nil
	}
	st, err := os.Stat(s.File)
	if err == nil && !st.Mode().IsRegular() { // a FIFO would be waited for, a device read without end
		err = fmt.Errorf("%s is not a file", s.File)
	}
	if err != nil {
		return nil, fmt.Errorf("parameter %q: %w", "file", err)
	}
	f, err := os.Open(s.File)
	if err != nil {
		return nil, fmt.Errorf("parameter %q: %w", "file", err)
	}
	defer f.Close()
	knots, err := readKnots(s.File, io.LimitReader(f, mostTable))
	if err != nil {
		return nil, err
	}
	return &table{*s, knots}, nil
}

// readKnots reads a table called name. Errors begin with name:line.
func readKnots(name string, in io.Reader) ([]knot, error) {
	r := csv.NewReader(in)
	r.FieldsPerRecord, r.TrimLeadingSpace, r.ReuseRecord, r.Comment = -1, true, true, '#'
	fail := func(format string, args ...any) ([]knot, error) {
		line, _ := r.FieldPos(0)
		return nil, fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...))
	}
	record, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w, expected the header %s", name, unwrapped(err), strings.Join(headers, " or "))
	}
	header := strings.TrimPrefix(strings.Join(record, ","), "\ufeff")
	if !slices.Contains(headers, header) {
		return fail("header %.80q, expected %s", header, strings.Join(headers, " or "))
	}
	columns := strings.Split(header, ",")
	var knots []knot
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			if at, ok := errors.AsType[*csv.ParseError](err); ok {
				return nil, fmt.Errorf("%s:%d: column %d: %w", name, at.Line, at.Column, at.Err)
			}
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(record) != len(columns) {
			return fail("%d fields, expected %d: %s", len(record), len(columns), header)
		}
		k, err := readKnot(columns, record)
		if err != nil {
			return fail("%v", err)
		}
		if n := len(knots); n > 0 && !(k.t >= knots[n-1].t+leastRow) {
			return fail("t is %g after %g, expected at least %g s more", k.t, knots[n-1].t, leastRow)
		}
		if len(knots) == mostRows {
			return fail("more than %d rows", mostRows)
		}
		knots = append(knots, k)
	}
	if len(knots) < 2 {
		return nil, fmt.Errorf("%s: %d rows below the header, expected at least 2", name, len(knots))
	}
	return finish(knots, len(columns) == 8), nil
}

func unwrapped(err error) error {
	if err == io.EOF {
		return errors.New("the file is empty")
	}
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		return at.Err
	}
	return err
}

func readKnot(columns, record []string) (knot, error) {
	var row [8]float64
	for i, text := range record {
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(math.Abs(x) <= 1e9) {
			return knot{}, fmt.Errorf("%s is %.40q, expected a number", columns[i], text)
		}
		row[i] = x
	}
	return knot{t: row[0], x: [4]float64(row[1:5]), v: [4]float64{row[5], row[6], row[7]}}, nil
}

// finish counts times from 0, unwraps the yaw, fills in velocities and appends the braking.
func finish(knots []knot, moving bool) []knot {
	begin := knots[0].t
	for i := range knots {
		knots[i].t -= begin
		if i > 0 {
			knots[i].x[3] = knots[i-1].x[3] + math.Remainder(knots[i].x[3]-knots[i-1].x[3], 2*math.Pi)
		}
	}
	first := 0
	if moving {
		first = 3 // the yaw alone
	}
	for i := 1; i+1 < len(knots); i++ {
		for j := first; j < 4; j++ {
			knots[i].v[j] = slope(&knots[i-1], &knots[i], &knots[i+1], j)
		}
	}
	last := knots[len(knots)-1]
	if speed := vec([3]float64(last.v[:3])).Norm(); speed > 0 {
		h := max(speed/braking, leastRow)
		rest := knot{t: last.t + h, x: last.x}
		for j := range 3 {
			rest.x[j] += last.v[j] * h / 2
		}
		knots = append(knots, rest)
	}
	return knots
}

// slope of channel j at b of the parabola through three rows.
func slope(a, b, c *knot, j int) float64 {
	h0, h1 := b.t-a.t, c.t-b.t
	return ((b.x[j]-a.x[j])/h0*h1 + (c.x[j]-b.x[j])/h1*h0) / (h0 + h1)
}

// At implements Reference.
func (k *table) At(t float64) quad.Reference {
	t = min(max(t, 0), k.Duration())
	i := sort.Search(len(k.knots)-2, func(i int) bool { return k.knots[i+1].t >= t })
	from, to := &k.knots[i], &k.knots[i+1]
	h := to.t - from.t
	var x, v, a [4]float64
	for j := range x {
		d, v0, v1 := to.x[j]-from.x[j], from.v[j]*h, to.v[j]*h
		c := polynomial{from.x[j], v0, 3*d - 2*v0 - v1, v0 + v1 - 2*d}
		x[j], v[j], a[j] = c.at((t-from.t)/h, h)
	}
	if t == k.Duration() {
		v, a = [4]float64{}, [4]float64{}
	}
	return quad.Reference{P: vec([3]float64(x[:3])), V: vec([3]float64(v[:3])), A: vec([3]float64(a[:3])),
		Yaw: math.Remainder(x[3], 2*math.Pi), YawRate: v[3]}
}

func (k *table) Duration() float64 { return k.knots[len(k.knots)-1].t }
func (k *table) Horizon() float64  { return k.Duration() }
func (k *table) Spec() Spec        { s := k.spec; return &s }
