package latent

import (
	"math"

	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
)

// RotorEncoder is an Encoder of a robot that four rotors drive: a row has measured body rates, and motors in the unit
// of the robot's model. A gap begins its window anew. It is for one goroutine.
type RotorEncoder struct {
	model *vnd.Model[float32]
	robot rotors.Robot

	rows     int // in the window, the newest included
	newest   rotors.Row
	n        int       // ticks that newest.Motors are the sum of
	measured []float32 // [T+1][M]
	actions  []float32 // [T+1][A]; that of the newest row is not over yet
	windows  *vnd.Windows[float32]
	tape     *nets.EncoderTape[float32]
	z, zero  []float32 // [Z]
}

// NewRotorEncoder reads windows by a model of the robot r.
func NewRotorEncoder(m *vnd.Model[float32], r rotors.Robot) *RotorEncoder {
	T, d := m.Net.Context, m.System.Dims()
	e := &RotorEncoder{model: m, robot: r, measured: make([]float32, (T+1)*d.Measured),
		actions: make([]float32, (T+1)*d.Action), windows: m.NewWindows(1), tape: m.Net.NewEncoderTape(1),
		z: make([]float32, m.Net.Latent), zero: make([]float32, m.Net.Latent)}
	e.windows.Reset(1)
	return e
}

// Reset forgets the rows so far.
func (e *RotorEncoder) Reset() {
	e.rows, e.n = 0, 0
	clear(e.z)
}

// Push takes what was flown in a tick, in the order of time. Where ticks are more frequent than rows, every n-th state
// is taken, with the mean of the motors until the next.
func (e *RotorEncoder) Push(row *rotors.Row) {
	if !e.robot.Finite(&row.State) {
		e.Reset()
		return
	}
	dt := e.robot.Period()
	d := row.T - e.newest.T
	if e.rows > 0 && d >= 0 && d < dt/2 {
		e.add(&row.Motors)
		return
	}
	if e.rows > 0 && math.Abs(d-dt) > dt/2 {
		e.Reset()
	}
	e.end()
	e.newest, e.n = *row, 0
	e.newest.Motors = [4]float64{}
	e.add(&row.Motors)
	e.begin()
}

func (e *RotorEncoder) add(motors *[4]float64) {
	for j, m := range motors {
		e.newest.Motors[j] += m
	}
	e.n++
}

// end writes the mean motors of the newest row.
func (e *RotorEncoder) end() {
	if e.rows == 0 {
		return
	}
	mean := e.newest.Motors
	for j := range mean {
		mean[j] /= float64(e.n)
	}
	e.robot.Action(&mean, e.actions[(e.rows-1)*len(mean):])
}

// begin adds a row to the window, and has a whole one read.
func (e *RotorEncoder) begin() {
	T, d := e.model.Net.Context, e.model.System.Dims()
	if e.rows == T+1 {
		copy(e.measured, e.measured[d.Measured:])
		copy(e.actions, e.actions[d.Action:])
		e.rows--
	}
	e.newest.State.Put(e.measured[e.rows*d.Measured:])
	if e.rows++; e.rows <= T {
		return
	}
	e.windows.Set(0, e.measured, e.actions[:T*d.Action])
	e.model.Net.Encode(e.tape, 1, e.windows.Features, e.z)
	for _, z := range e.z {
		if z*0 != 0 {
			clear(e.z)
			return
		}
	}
}

// At is the latent for a tick at time now, s: the prior mean where the newest row is older than maxAge, s.
func (e *RotorEncoder) At(now, maxAge float64) []float32 {
	if e.rows == 0 || !(math.Abs(now-e.newest.T) <= maxAge) {
		return e.zero
	}
	return e.z
}
