package logs

import (
	"io"
	"strconv"

	"vnd/pkg/core/atomicfile"
)

// motorHeader begins a CSV of a flight with motor commands; vbat follows where the battery was measured.
const motorHeader = "t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,m1,m2,m3,m4"

// WriteMotorCSV writes a flight with motor commands, whole or not at all: state, measured body rates, commands of 0…1
// over the time until the next row, battery voltage. A gap in time ends a segment.
func WriteMotorCSV(path string, f *Flight) error {
	return atomicfile.WriteFile(path, func(w io.Writer) error { return f.formatMotors(w) })
}

func (f *Flight) formatMotors(w io.Writer) error {
	line := []byte(motorHeader)
	if f.Battery {
		line = append(line, ",vbat"...)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return err
	}
	for _, s := range f.Segments {
		for i := range s {
			r := &s[i]
			p, q, v := r.State.P, r.State.Q, r.State.V
			numbers := []float64{r.T, p.X, p.Y, p.Z, q.W, q.X, q.Y, q.Z, v.X, v.Y, v.Z, r.Rates.X, r.Rates.Y, r.Rates.Z,
				r.Motors[0], r.Motors[1], r.Motors[2], r.Motors[3], r.Battery}
			if !f.Battery {
				numbers = numbers[:len(numbers)-1]
			}
			line = line[:0]
			for k, x := range numbers {
				if k > 0 {
					line = append(line, ',')
				}
				line = strconv.AppendFloat(line, x, 'g', -1, 64)
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}
