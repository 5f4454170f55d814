package flightlog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/quad"
)

// WriteCSV writes a flight, whole or not at all; ReadCSV reads it back bit for bit. Only a gap in time shows a reader
// where a segment ends: where two segments follow each other without one, the first rows of the later are left out
// until there is one. A flight without rows, with time going back or with a value that is not finite is refused.
func WriteCSV(path string, f quad.Flight, delta float64) error {
	rows, err := spaced(f, delta)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return atomicfile.WriteFile(path, func(w io.Writer) error { return formatCSV(w, rows) })
}

// spaced returns the rows to write, all segments in one.
func spaced(f quad.Flight, delta float64) ([]quad.Row, error) {
	var rows []quad.Row
	for i, s := range f.Segments {
		end := len(rows)
		for k, step := range s {
			for c, x := range values(step) {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					return nil, fmt.Errorf("segment %d, row %d: column %q: %v, expected a finite number", i, k,
						columnNames[c], x)
				}
			}
			last := len(rows) - 1
			if last >= 0 && step.T <= rows[last].T {
				return nil, fmt.Errorf("segment %d, row %d: time goes back from %v to %v s", i, k, rows[last].T, step.T)
			}
			if len(rows) == end && end > 0 && step.T-rows[last].T <= gapSteps*delta {
				continue
			}
			rows = append(rows, step)
		}
	}
	if len(rows) == 0 {
		return nil, errors.New("the flight has no rows")
	}
	return rows, nil
}

func formatCSV(w io.Writer, rows []quad.Row) error {
	line := append([]byte(csvHeader), '\n')
	for i := 0; ; i++ {
		if _, err := w.Write(line); err != nil {
			return err
		}
		if i == len(rows) {
			return nil
		}
		line = line[:0]
		for k, x := range values(rows[i]) {
			if k > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, x, 'g', -1, 64)
		}
		line = append(line, '\n')
	}
}

// values returns the row in the order of the columns.
func values(s quad.Row) [columns]float64 {
	p, q, v, w := s.State.P, s.State.Q, s.State.V, s.Command.Rates
	return [columns]float64{s.T, p.X, p.Y, p.Z, q.W, q.X, q.Y, q.Z, v.X, v.Y, v.Z, s.Command.Thrust, w.X, w.Y, w.Z}
}
