package bridge

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

func anyVec() *rapid.Generator[so3.Vec3] {
	x := rapid.Float64Range(-100, 100)
	return rapid.Custom(func(t *rapid.T) so3.Vec3 {
		return so3.Vec3{X: x.Draw(t, "x"), Y: x.Draw(t, "y"),
			Z: x.Draw(t, "z")}
	})
}

func anyAttitude() *rapid.Generator[so3.Quat] {
	return rapid.Custom(func(t *rapid.T) so3.Quat {
		a := rapid.Float64Range(-math.Pi, math.Pi)
		return so3.FromEuler(a.Draw(t, "roll"), a.Draw(t, "pitch"), a.Draw(t, "yaw"))
	})
}

func anyState() *rapid.Generator[quad.State] {
	return rapid.Custom(func(t *rapid.T) quad.State {
		return quad.State{P: anyVec().Draw(t, "p"), Q: anyAttitude().Draw(t, "q"), V: anyVec().Draw(t, "v")}
	})
}

// apart is how far two attitudes are from being the same rotation, rad.
func apart(a, b so3.Quat) float64 {
	w := math.Abs(a.W*b.W + a.X*b.X + a.Y*b.Y + a.Z*b.Z)
	return 2 * math.Acos(math.Min(w, 1))
}

func same(a, b quad.State) bool {
	return a.P.Sub(b.P).Norm() < 1e-12 && a.V.Sub(b.V).Norm() < 1e-12 && apart(a.Q, b.Q) < 1e-7
}

// There and back is where one was.
func TestSwapTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := anyState().Draw(rt, "state")
		if got := SwapState(SwapState(s)); !same(got, s) {
			rt.Fatalf("%+v came back as %+v", s, got)
		}
		if got := SwapBody(SwapBody(s.V)); got != s.V {
			rt.Fatalf("%+v came back as %+v", s.V, got)
		}
	})
}

// It is the same to turn a body vector into the world and then change frames, and the other way round.
func TestSwapCommutes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q, frd := anyAttitude().Draw(rt, "q"), anyVec().Draw(rt, "v")
		one := SwapWorld(q.Rotate(frd))
		other := SwapAttitude(q).Rotate(SwapBody(frd))
		if one.Sub(other).Norm() > 1e-11 {
			rt.Fatalf("%v and %v", one, other)
		}
	})
}

// Attitudes that everybody knows: level and looking north, east, or up by a tenth.
func TestKnownAttitudes(t *testing.T) {
	for name, c := range map[string]struct {
		ned  so3.Quat // FRD in NED
		want so3.Quat // FLU in ENU
	}{
		"north":    {so3.Identity(), so3.FromEuler(0, 0, math.Pi/2)},
		"east":     {so3.FromEuler(0, 0, math.Pi/2), so3.Identity()},
		"south":    {so3.FromEuler(0, 0, math.Pi), so3.FromEuler(0, 0, -math.Pi/2)},
		"nose up":  {so3.FromEuler(0, 0.1, math.Pi/2), so3.FromEuler(0, -0.1, 0)},
		"right":    {so3.FromEuler(0.1, 0, math.Pi/2), so3.FromEuler(0.1, 0, 0)},
		"turning":  {so3.FromEuler(0, 0, math.Pi/2+0.3), so3.FromEuler(0, 0, -0.3)},
		"tumbling": {so3.FromEuler(math.Pi, 0, math.Pi/2), so3.FromEuler(math.Pi, 0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SwapAttitude(c.ned); apart(got, c.want) > 1e-7 {
				t.Errorf("%+v, expected %+v", got, c.want)
			}
		})
	}
	if got, want := SwapWorld(so3.Vec3{X: 1, Y: 2, Z: 3}), (so3.Vec3{X: 2, Y: 1, Z: -3}); got != want {
		t.Errorf("1 m north, 2 east, 3 down is %v, expected %v", got, want)
	}
}
