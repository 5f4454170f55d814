package preflight

import (
	"fmt"
	"math"
	"slices"

	"vnd/pkg/core/so3"
)

// Move is something that a person does with the robot in hand.
type Move int

// Moves in the order in which they are asked for. Each ends with the robot held still.
const (
	Rest Move = iota
	Lift
	Forward
	Left
	NoseDown
	Level
	RightDown
	LevelAgain
	TurnLeft
	Ahead
	Moves
)

var prompts = [Moves]string{
	"put the robot on the floor, level, its nose along the x axis of the world",
	"lift it straight up by about half a metre",
	"carry it about half a metre forward, towards its nose, without turning it",
	"carry it about half a metre to its left, without turning it",
	"lower its nose by about 45 degrees",
	"hold it level again",
	"lower its right side by about 45 degrees",
	"hold it level again",
	"turn it to the left by a quarter turn (counter-clockwise seen from above), level",
	"carry it about half a metre forward again, towards its nose",
}

// Prompt says what to do.
func (m Move) Prompt() string { return prompts[m] }

// Hold is the robot held still at the end of a move.
type Hold struct {
	P       so3.Vec3 // mean of the position
	Q       so3.Quat // of the attitude, as its fields came
	Samples int
	// Turned is the angle along the way from the hold before, rad. It is more than the angle between the two holds
	// where the robot turned back and forth.
	Turned float64
}

// NewHold makes one of the samples since the hold before. The last of them count for the mean: those of a moment, and
// no more than a quarter, for on a busy machine all may arrive in a moment.
func NewHold(since []Sample) Hold {
	const mean = 0.3 // s
	h := Hold{Samples: len(since)}
	if len(since) == 0 {
		return h
	}
	last := since[len(since)-1]
	n := 0.0
	for i, s := range since {
		if i > 0 {
			h.Turned += angle(since[i-1].Q, s.Q)
		}
		if last.Arrival-s.Arrival > mean || i < len(since)-max(1, len(since)/4) {
			continue
		}
		q := s.Q
		if dot(q, last.Q) < 0 { // the other sign of the same attitude
			q = so3.Quat{W: -q.W, X: -q.X, Y: -q.Y, Z: -q.Z}
		}
		h.P, h.Q, n = h.P.Add(s.P), so3.Quat{W: h.Q.W + q.W, X: h.Q.X + q.X, Y: h.Q.Y + q.Y, Z: h.Q.Z + q.Z}, n+1
	}
	h.P = h.P.Scale(1 / n)
	h.Q = so3.Quat{W: h.Q.W / n, X: h.Q.X / n, Y: h.Q.Y / n, Z: h.Q.Z / n}
	return h
}

func dot(a, b so3.Quat) float64 { return a.W*b.W + a.X*b.X + a.Y*b.Y + a.Z*b.Z }

// angle is between two attitudes, rad.
func angle(a, b so3.Quat) float64 {
	n := a.Norm() * b.Norm()
	if !(n > 0) {
		return 0
	}
	return 2 * math.Acos(min(1, math.Abs(dot(a, b))/n))
}

// What the moves are about.
const (
	stride  = 0.5         // m
	quarter = math.Pi / 2 // rad
)

// Hands judges the holds of all moves.
func Hands(holds [Moves]Hold) []Finding {
	for m, h := range holds {
		if h.Samples == 0 {
			return []Finding{wrong("samples", fmt.Sprintf("none came while asked to %s", Move(m).Prompt()),
				"see to the topic first")}
		}
	}
	found, positions := places(&holds)
	return append(found, attitudes(&holds, positions)...)
}

// places judges unit and axes of the positions, and returns the axes.
func places(holds *[Moves]Hold) ([]Finding, axes) {
	moved := [3]so3.Vec3{holds[Forward].P.Sub(holds[Lift].P), holds[Left].P.Sub(holds[Forward].P),
		holds[Lift].P.Sub(holds[Rest].P)}
	lengths := []float64{moved[0].Norm(), moved[1].Norm(), moved[2].Norm()}
	names := [3]string{"carried forward", "carried to the left", "lifted"}
	sorted := slices.Sorted(slices.Values(lengths))
	middle := sorted[1]
	if !(middle > 1e-4) {
		return []Finding{wrong("positions", "do not change while the robot is moved",
			"is the body tracked, and is it the right one (parameter body)?")}, straight
	}
	for i, l := range lengths {
		if l < middle/5 || l > middle*5 {
			return []Finding{wrong("positions",
				fmt.Sprintf("%s by %.4g, other moves by about %.4g", names[i], l, middle),
				"do the moves again, each by about half a metre")}, straight
		}
	}
	f := []Finding{unit(middle)}
	truth := [3]so3.Vec3{{X: 1}, {Y: 1}, {Z: 1}}
	a, off := nearest(truth, moved)
	const skew = 0.45 // rad, on average: more is no carelessness of hands
	if off > skew {
		f = append(f, wrong("position axes", fmt.Sprintf("%.0f° off any axes of the world on average", off*180/math.Pi),
			"was the nose along the world's x axis, and each move straight? else the world is set up skewed"))
		return f, a
	}
	return append(f, world(a)), a
}

// unit judges positions by how long half a metre is.
func unit(length float64) Finding {
	const name = "position unit"
	detail := fmt.Sprintf("half a metre comes out as %.4g", length)
	factor := length / stride
	for _, u := range []struct {
		name      string
		of        float64
		low, high float64
	}{{"metres", 1, 0.3, 4}, {"inches", 39.4, 20, 55}, {"centimetres", 100, 55, 300}, {"millimetres", 1000, 300, 4000},
		{"kilometres", 0.001, 0.0003, 0.004}} {
		if factor < u.low || factor >= u.high {
			continue
		}
		if u.of == 1 {
			return fine(name, detail+": metres")
		}
		return wrong(name, detail+": these are "+u.name, "have the driver send metres")
	}
	return wrong(name, detail+": not metres", "have the driver send metres")
}

// world names the axes of positions.
func world(a axes) Finding {
	const name = "position axes"
	if a == straight {
		return fine(name, "x forward, y left, z up, as ENU")
	}
	detail := a.mapping("the world's")
	axis, sign := a.up()
	switch {
	case a.handed() < 0:
		return wrong(name, "mirrored: "+detail,
			"one axis of the driver has the wrong sign, or two are exchanged: a left-handed world cannot be flown in")
	case a == nedWorld:
		return wrong(name, "NED: "+detail, "set mocap_frame to ned")
	case axis == 2 && sign < 0:
		return wrong(name, "z points down, as in NED and FRD: "+detail, "set mocap_frame to ned")
	case axis == 1 && sign > 0:
		return wrong(name, "y points up, as motion capture software has it by default: "+detail, "set its up axis to z")
	case axis == 2:
		return wrong(name, "turned about z: "+detail,
			"was the nose along the world's x axis? else turn the world of the motion capture")
	}
	return wrong(name, detail, "set the axes of the motion capture to x forward, y left, z up")
}
