// Package so3 holds unit quaternions, rotations, Exp and Log.
//
// Frames follow the monogram notation: q_WB takes vectors of body B to world W.
// All angles are in radians; everything is float64.
//
// Formulas: J. Solà, J. Deray, D. Atchuthan, "A micro Lie theory for state
// estimation in robotics", arXiv:1812.01537, appendix B (SO(3), S³).
package so3

import "math"

// Vec3 is a vector in R³; its frame and unit are those of the field that holds it.
type Vec3 struct{ X, Y, Z float64 }

// Quat is a unit quaternion, Hamilton convention, W the scalar part.
type Quat struct{ W, X, Y, Z float64 }

// Add returns v + u.
func (v Vec3) Add(u Vec3) Vec3 { return Vec3{v.X + u.X, v.Y + u.Y, v.Z + u.Z} }

// Sub returns v − u.
func (v Vec3) Sub(u Vec3) Vec3 { return Vec3{v.X - u.X, v.Y - u.Y, v.Z - u.Z} }

// Scale returns s·v.
func (v Vec3) Scale(s float64) Vec3 { return Vec3{s * v.X, s * v.Y, s * v.Z} }

// Dot returns vᵀu.
func (v Vec3) Dot(u Vec3) float64 { return v.X*u.X + v.Y*u.Y + v.Z*u.Z }

// Cross returns v × u.
func (v Vec3) Cross(u Vec3) Vec3 {
	return Vec3{
		v.Y*u.Z - v.Z*u.Y,
		v.Z*u.X - v.X*u.Z,
		v.X*u.Y - v.Y*u.X,
	}
}

// Norm returns |v|, the Euclidean length.
func (v Vec3) Norm() float64 { return math.Sqrt(v.Dot(v)) }

// Shorten returns a vector of the direction of v that is no longer than most.
func (v Vec3) Shorten(most float64) Vec3 {
	if n := v.Norm(); n > most {
		return v.Scale(most / n)
	}
	return v
}

// Finite reports whether no component is NaN or infinite. It takes no component from itself: of a product, fused with
// that as on arm64, its rounding would be left.
func (v Vec3) Finite() bool { return v.X*0+v.Y*0+v.Z*0 == 0 }

// Finite reports whether no component is NaN or infinite.
func (q Quat) Finite() bool { return q.W*0 == 0 && Vec3{q.X, q.Y, q.Z}.Finite() }
