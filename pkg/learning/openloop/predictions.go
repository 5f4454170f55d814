package openloop

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"vnd/pkg/core/quad"
)

// PredictionHeader is the first line of a prediction CSV: p_W in m, q_WB, v_W in m/s.
const PredictionHeader = "start,step,px,py,pz,qw,qx,qy,qz,vx,vy,vz"

// WritePredictions writes a flight's predictions as CSV: from row Context and every stride rows on,
// while the given steps remain in the segment. Column start counts the rows of the recording, from 0,
// also those that are in no segment; column step runs from 1.
func WritePredictions(w io.Writer, f *quad.Flight, e Entry, steps, stride int) error {
	if steps < 1 || stride < 1 {
		return fmt.Errorf("%d steps every %d rows, want at least 1 of each", steps, stride)
	}
	n := 0
	for _, seg := range f.Segments {
		n += windows(len(seg), steps, stride)
	}
	if n == 0 {
		return fmt.Errorf("flight %s has no segment of more than %d rows", f.Name, Context+steps)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, PredictionHeader)
	for i, seg := range f.Segments {
		first := f.FirstRow(i)
		err := predictSegment(quadrotors, &e, seg, steps, stride, func(start int, predicted []quad.State) error {
			for h := range predicted {
				if _, err := out.Write(predictionLine(first+start, h+1, &predicted[h])); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("flight %s: %w", f.Name, err)
		}
	}
	return out.Flush()
}

func predictionLine(start, step int, s *quad.State) []byte {
	b := strconv.AppendInt(make([]byte, 0, 160), int64(start), 10)
	b = strconv.AppendInt(append(b, ','), int64(step), 10)
	for _, x := range []float64{s.P.X, s.P.Y, s.P.Z, s.Q.W, s.Q.X, s.Q.Y, s.Q.Z, s.V.X, s.V.Y, s.V.Z} {
		b = strconv.AppendFloat(append(b, ','), x, 'g', 10, 64)
	}
	return append(b, '\n')
}
