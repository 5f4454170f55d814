package bridge

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Aerospace frames: world NED (north, east, down) and body FRD (forward, right, down), where ours are ENU and FLU.

// enuFromNED is q_EN, half a turn about the horizontal axis between north and east. It is its own inverse but for the
// sign.
var enuFromNED = so3.Quat{X: math.Sqrt2 / 2, Y: math.Sqrt2 / 2}

// frdFromFLU is half a turn about the forward axis.
var frdFromFLU = so3.Quat{X: 1}

// SwapWorld takes a vector in NED to ENU, and one in ENU to NED.
func SwapWorld(v so3.Vec3) so3.Vec3 { return so3.Vec3{X: v.Y, Y: v.X, Z: -v.Z} }

// SwapBody takes a vector in FRD to FLU, and one in FLU to FRD.
func SwapBody(v so3.Vec3) so3.Vec3 { return so3.Vec3{X: v.X, Y: -v.Y, Z: -v.Z} }

// SwapAttitude takes the attitude of an FRD body in NED to that of the FLU body in ENU, and back.
func SwapAttitude(q so3.Quat) so3.Quat { return enuFromNED.Mul(q).Mul(frdFromFLU) }

// SwapState takes a state between the two pairs of frames, velocity being in the world.
func SwapState(s quad.State) quad.State {
	return quad.State{P: SwapWorld(s.P), Q: SwapAttitude(s.Q), V: SwapWorld(s.V)}
}
