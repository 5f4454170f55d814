// Package so3 holds unit quaternions, rotations, Exp and Log and their Jacobians.
//
// Frames follow the monogram notation: q_WB takes vectors of body B to world W.
// All angles are in radians; everything is float64.
package so3

// Vec3 is a vector in R³; its frame and unit are those of the field that holds it.
type Vec3 struct{ X, Y, Z float64 }

// Quat is a unit quaternion, Hamilton convention, W the scalar part.
type Quat struct{ W, X, Y, Z float64 }
