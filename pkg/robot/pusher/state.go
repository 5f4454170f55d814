// Package pusher is a box on a table that a round tool pushes, as a robot.System: a quasi-static prior of the box's
// planar motion.
//
// An action is the velocity of the tool along the table, m/s. An arm holds the tool level and follows that velocity,
// as its own Cartesian controller does: joints, which package arm has, would add to each step's cost alone.
//
// Shapes are those of package robot.
package pusher

// Sizes of box and tool, m.
const (
	Side       = 0.12 // of the box, which is square
	Height     = 0.08
	ToolRadius = 0.015
)

// MostSpeed is that of a command along each axis, m/s.
const MostSpeed = 0.4

// State is where the box and the tool are on the table, and how fast: in the table's frame, m, rad, m/s, rad/s.
type State struct {
	Box          [3]float64 // x, y, heading
	BoxVelocity  [3]float64
	Tool         [2]float64
	ToolVelocity [2]float64
}

// Command is the velocity that the tool is to have along the table, m/s.
type Command [2]float64

// Write writes the state as s[S] of the System.
func (x *State) Write(s []float32) {
	p := x.planar()
	put(p.numbers(), s)
}

func (x *State) planar() planar {
	return planar{x.Tool, vector{x.Box[0], x.Box[1]}, x.Box[2], x.ToolVelocity,
		vector{x.BoxVelocity[0], x.BoxVelocity[1]}, x.BoxVelocity[2]}
}

// Read reads s[S] of the System.
func (x *State) Read(s []float32) {
	p := unpack(s)
	x.Box, x.BoxVelocity = [3]float64{p.box[0], p.box[1], p.heading}, [3]float64{p.boxVector[0], p.boxVector[1], p.rate}
	x.Tool, x.ToolVelocity = p.tool, p.toolVelocity
}
