package guard

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Predictor carries measured states on to a later time under the commands sent, by the model of a guard that runs in
// another process. It is for one goroutine and allocates nothing after NewPredictor.
type Predictor struct {
	plant plant
	wind  so3.Vec3
}

// NewPredictor returns one that knows of no command.
func NewPredictor(c *Config) Predictor { return Predictor{plant: plant{response: c.Response}} }

// Send takes down what the guard sent at a time, s, and the wind that it believed in, m/s².
func (p *Predictor) Send(at float64, c quad.Command, wind so3.Vec3) {
	p.plant.send(at, c)
	p.wind = wind
}

// ShiftTimes has what was sent follow a clock that was set by so many seconds, and reads now.
func (p *Predictor) ShiftTimes(by, now float64) { p.plant.shift(by, now) }

// Ahead is where the model carries a measured state from one time to a later one, s.
func (p *Predictor) Ahead(s *quad.State, from, to float64) quad.State {
	return p.plant.ahead(s, from, to, p.wind)
}

// Moves is how what was sent moves a state from one time to a later one, s, in still air: mean body rates, rad/s, and
// mean specific force in the body, m/s².
func (p *Predictor) Moves(s *quad.State, from, to float64) (rates, force so3.Vec3) {
	return p.plant.moves(s, from, to)
}

// Moves is that of a Predictor.
func (g *Guard) Moves(s *quad.State, from, to float64) (rates, force so3.Vec3) {
	return g.belief.plant.moves(s, from, to)
}

// Wind is the lasting acceleration beyond thrust and gravity that the guard believes in, m/s² in the world.
func (g *Guard) Wind() so3.Vec3 { return g.belief.wind }

// Turning is how the commands sent turn the robot from one time to a later one, s, by the response: mean body rates,
// rad/s.
func (g *Guard) Turning(from, to float64) so3.Vec3 { return g.belief.plant.turning(from, to) }

// Lateness follows how old states usually are at ticks. A policy was trained with what their latency usually is; a
// state that is older is first to be carried on. The zero one has seen no state.
type Lateness struct{ usual float64 } // s

const (
	excess     = 0.012 // s beyond the usual age from which on a state is late
	forgetting = 0.005 // share of a new age in the usual one
)

// Of is by how much a state of an age is older than usual, s; 0 where it is not late.
func (l *Lateness) Of(age float64) float64 {
	if l.usual == 0 {
		l.usual = age
	}
	late := age - l.usual
	if late > excess {
		return late
	}
	l.usual += forgetting * late
	return 0
}
