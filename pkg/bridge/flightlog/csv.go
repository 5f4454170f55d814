package flightlog

import (
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

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// The columns of a flight CSV, in the order in which WriteCSV writes them; any order is read.
// Seconds; p_W, m; q_WB; v_W, m/s; thrust, m/s²; ω_B, rad/s.
const (
	colT = iota
	colPX
	colPY
	colPZ
	colQW
	colQX
	colQY
	colQZ
	colVX
	colVY
	colVZ
	colThrust
	colWX
	colWY
	colWZ
	columns
)

var columnNames = [columns]string{"t", "px", "py", "pz", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "thrust", "wx", "wy",
	"wz"}

var csvHeader = strings.Join(columnNames[:], ",")

// row is one line of the file, checked by itself but not yet placed on the grid of Δt.
type row struct {
	line  int
	index int // in the file, counted from 0
	step  quad.Row
	cut   bool // a segment begins here although time has no gap
}

// ReadCSV reads the flight CSV at path; see ParseCSV.
func ReadCSV(path string, o Options) (quad.Flight, []Warning, error) {
	f, err := os.Open(path)
	if err != nil {
		return quad.Flight{}, nil, err
	}
	defer f.Close()
	return ParseCSV(path, f, o)
}

// HasVelocity reports whether the flight CSV at path has velocities, by its first row.
func HasVelocity(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	c := csv.NewReader(f)
	c.FieldsPerRecord = -1
	header, err := c.Read()
	if err != nil {
		return false, csvError(path, err)
	}
	order, err := parseHeader(path, header)
	if err != nil {
		return false, err
	}
	record, err := c.Read()
	if err != nil {
		return false, csvError(path, err)
	}
	p := rowParser{record: record, order: order}
	return !p.hasNoVelocity(), nil
}

// ParseCSV reads a flight CSV that errors and warnings call name; the flight gets its base name without extension.
//
// The header must have exactly the columns t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,thrust,wx,wy,wz, in any order. Rows come
// every Δt or several times as often, with jitter, see thinned; each is put on its segment's grid t_0 + k·Δt, and more
// than 1.5·Δt between two rows, or less than Δt/2, ends a segment. Quaternions are normalised and keep a continuous
// sign. Where the velocity columns are empty, all of them, velocity comes from estimate: causally, except that the
// rows before the first full fit of a stretch are looked back at from it, which is within estimate's window and thus
// the past of the first prediction; a jump of the position cuts.
//
// An error is one line with file, line and column: a missing or unknown column, anything but a finite number in
// plausible bounds, rates beyond the airframe's, a quaternion off unit norm, time that does not advance, rows that are
// not Δt apart, no segment of Window+1 rows.
func ParseCSV(name string, r io.Reader, o Options) (quad.Flight, []Warning, error) {
	if err := o.check(); err != nil {
		return quad.Flight{}, nil, err
	}
	rows, estimated, err := parseRows(name, r)
	if err != nil {
		return quad.Flight{}, nil, err
	}
	if err := checkLimits(name, rows, o.Limits); err != nil {
		return quad.Flight{}, nil, err
	}
	rows, warnings := thinned(name, rows, o)
	more, err := checkSpacing(name, rows, o)
	if err != nil {
		return quad.Flight{}, nil, err
	}
	warnings = append(warnings, more...)
	if estimated {
		var w []Warning
		if rows, w, err = estimateVelocity(name, rows, o); err != nil {
			return quad.Flight{}, nil, err
		}
		warnings = append(warnings, w...)
	}
	base := filepath.Base(name)
	flight := quad.Flight{Name: strings.TrimSuffix(base, filepath.Ext(base))}
	flight.Segments, flight.First = segments(rows, o.Delta)
	if err := checkLength(name, flight, rows, o); err != nil {
		return quad.Flight{}, nil, err
	}
	for _, s := range suspicions(flight, o, estimated) {
		warnings = append(warnings, Warning{File: name, Column: columnNames[s.column], Text: s.text})
	}
	return flight, warnings, nil
}

// parseRows reads header and rows; estimated says that the file has no velocities.
func parseRows(name string, r io.Reader) (rows []row, estimated bool, err error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	c.FieldsPerRecord = -1 // counted here, for an error in our form
	record, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("%sempty, expected the header %s", where(name, 0, ""), csvHeader)
	}
	if err != nil {
		return nil, false, csvError(name, err)
	}
	order, err := parseHeader(name, record)
	if err != nil {
		return nil, false, err
	}
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return rows, estimated, nil
		}
		if err != nil {
			return nil, false, csvError(name, err)
		}
		line, _ := c.FieldPos(0)
		p := rowParser{name: name, line: line, record: record, order: order}
		if len(rows) == 0 {
			estimated = p.hasNoVelocity()
		}
		step, err := p.parse(estimated)
		if err != nil {
			return nil, false, err
		}
		if err := follow(name, line, rows, &step); err != nil {
			return nil, false, err
		}
		rows = append(rows, row{line: line, index: len(rows), step: step})
	}
}

// parseHeader returns for each column its place in the file.
func parseHeader(name string, record []string) (order [columns]int, err error) {
	seen := [columns]bool{}
	for place, field := range record {
		field = strings.TrimSpace(field)
		if place == 0 {
			field = strings.TrimPrefix(field, "\ufeff") // the mark that spreadsheets put before UTF-8
		}
		i := slices.Index(columnNames[:], field)
		if i < 0 {
			return order, fmt.Errorf("%sunknown column %s, expected the header %s", where(name, 1, ""), quoted(field),
				csvHeader)
		}
		if seen[i] {
			return order, fmt.Errorf("%sappears twice", where(name, 1, field))
		}
		seen[i], order[i] = true, place
	}
	if i := slices.Index(seen[:], false); i >= 0 {
		return order, fmt.Errorf("%smissing, expected the header %s", where(name, 1, columnNames[i]), csvHeader)
	}
	return order, nil
}

// rowParser reads one record.
type rowParser struct {
	name   string
	line   int
	record []string
	order  [columns]int
}

func (p *rowParser) field(column int) string {
	if i := p.order[column]; i < len(p.record) {
		return strings.TrimSpace(p.record[i])
	}
	return ""
}

func (p *rowParser) hasNoVelocity() bool {
	return p.field(colVX) == "" && p.field(colVY) == "" && p.field(colVZ) == ""
}

// parse reads and checks the row by itself.
func (p *rowParser) parse(estimated bool) (quad.Row, error) {
	if len(p.record) != columns {
		return quad.Row{}, fmt.Errorf("%s%d fields, expected %d as in the header", where(p.name, p.line, ""),
			len(p.record), columns)
	}
	var x [columns]float64
	for i := range columns {
		velocity := i >= colVX && i <= colVZ
		if velocity && estimated {
			if p.field(i) != "" {
				return quad.Row{}, fmt.Errorf("%s%s, but the velocities of the rows before are empty",
					where(p.name, p.line, columnNames[i]), quoted(p.field(i)))
			}
			continue
		}
		v, err := strconv.ParseFloat(p.field(i), 64)
		switch {
		case p.field(i) == "" && velocity:
			return quad.Row{}, fmt.Errorf("%sempty, but other velocities are not",
				where(p.name, p.line, columnNames[i]))
		case p.field(i) == "":
			return quad.Row{}, fmt.Errorf("%sempty, expected a number", where(p.name, p.line, columnNames[i]))
		case err != nil && !errors.Is(err, strconv.ErrRange):
			return quad.Row{}, fmt.Errorf("%s%s is not a number", where(p.name, p.line, columnNames[i]),
				quoted(p.field(i)))
		case math.IsNaN(v) || math.IsInf(v, 0):
			return quad.Row{}, fmt.Errorf("%s%s, expected a finite number", where(p.name, p.line, columnNames[i]),
				quoted(p.field(i)))
		}
		if text := implausible(i, v); text != "" {
			return quad.Row{}, errors.New(where(p.name, p.line, columnNames[i]) + text)
		}
		x[i] = v
	}
	q := so3.Quat{W: x[colQW], X: x[colQX], Y: x[colQY], Z: x[colQZ]}
	if norm := q.Norm(); math.Abs(norm-1) > quad.NormSlack {
		return quad.Row{}, fmt.Errorf("%squaternion of norm %.4g, expected 1 ± %g",
			where(p.name, p.line, columnNames[colQW]), norm, quad.NormSlack)
	}
	return quad.Row{
		T:       x[colT],
		State:   quad.State{P: vec(x[colPX:]), Q: unit(q), V: vec(x[colVX:])},
		Command: quad.Command{Thrust: x[colThrust], Rates: vec(x[colWX:])},
	}, nil
}

// follow checks step against the row before and gives its quaternion the nearer sign.
func follow(name string, line int, rows []row, step *quad.Row) error {
	if len(rows) == 0 {
		return nil
	}
	last := rows[len(rows)-1].step
	if step.T < last.T {
		return fmt.Errorf("%stime goes back from %v to %v s", where(name, line, columnNames[colT]), last.T, step.T)
	}
	if step.T == last.T {
		return fmt.Errorf("%stime stands still at %v s", where(name, line, columnNames[colT]), step.T)
	}
	a, b := last.State.Q, &step.State.Q
	if a.W*b.W+a.X*b.X+a.Y*b.Y+a.Z*b.Z < 0 {
		*b = so3.Quat{W: -b.W, X: -b.X, Y: -b.Y, Z: -b.Z}
	}
	return nil
}

// unit normalises q unless it is so already to the last digits, so that what was written is read back bit for bit.
func unit(q so3.Quat) so3.Quat {
	if math.Abs(q.Norm()-1) < 1e-15 {
		return q
	}
	return q.Normalize()
}

func vec(x []float64) so3.Vec3 { return so3.Vec3{X: x[0], Y: x[1], Z: x[2]} }

// quoted keeps an error to one short line whatever the field holds.
func quoted(field string) string {
	if len(field) > 24 {
		field = field[:24] + "…"
	}
	return strconv.Quote(field)
}

// csvError turns an error of encoding/csv into file:line: what.
func csvError(name string, err error) error {
	if pe, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("%s%w", where(name, pe.Line, ""), pe.Err)
	}
	return fmt.Errorf("%s%w", where(name, 0, ""), err)
}
