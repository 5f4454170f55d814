package so3

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// A law is one statement of algebra over three rotations, given by their
// rotation vectors, |φ| ≤ π. It returns how far the two sides are apart.
type law struct {
	name      string
	tolerance float64
	gap       func(a, b, c Vec3) float64
}

const rounding = 2e-15 // a few units in the last place of numbers near 1

var laws = []law{
	{"Log(Exp(φ)) = φ", 4 * rounding, func(a, _, _ Vec3) float64 {
		got := Log(Exp(a))
		if a.Norm() > math.Pi-1e-12 { // φ and −φ are one rotation at π
			return min(got.Sub(a).Norm(), got.Add(a).Norm())
		}
		return got.Sub(a).Norm()
	}},
	{"Exp(Log(q)) = ±q", rounding, func(a, b, _ Vec3) float64 {
		q := Exp(a).Mul(Exp(b)).Normalize()
		return apart(Exp(Log(q)), q)
	}},
	{"Log keeps relative precision near 0", rounding, func(a, _, _ Vec3) float64 {
		if n := a.Norm(); n > 0 && n < 1e-3 {
			return Log(Exp(a)).Sub(a).Norm() / n
		}
		return 0
	}},
	{"Log takes the short way", 1e-15, func(a, b, _ Vec3) float64 {
		return max(0, Log(Exp(a).Mul(Exp(b))).Norm()-math.Pi)
	}},
	{"|Exp(φ)| = 1", rounding, func(a, _, _ Vec3) float64 { return math.Abs(Exp(a).Norm() - 1) }},
	{"Exp(−φ) = q̄", 0, func(a, _, _ Vec3) float64 { return difference(Exp(a.Scale(-1)), Exp(a).Conj()) }},
	{"Slerp begins at q and ends at ±p", 2 * rounding, func(a, b, _ Vec3) float64 {
		q, p := Exp(a), Exp(b)
		return apart(q.Slerp(p, 0), q) + apart(q.Slerp(p, 1), p)
	}},
	{"Slerp turns by its share of the short way", 4 * rounding, func(a, b, c Vec3) float64 {
		q, p, u := Exp(a), Exp(b), c.Norm()/math.Pi
		return math.Abs(Log(q.Conj().Mul(q.Slerp(p, u))).Norm() - u*Log(q.Conj().Mul(p)).Norm())
	}},
	{"q·q̄ = 1", rounding, func(a, _, _ Vec3) float64 {
		return difference(Exp(a).Mul(Exp(a).Conj()), Identity())
	}},
	{"q·1 = 1·q = q", 0, func(a, _, _ Vec3) float64 {
		q := Exp(a)
		return difference(q.Mul(Identity()), q) + difference(Identity().Mul(q), q)
	}},
	{"(p·q)·r = p·(q·r)", rounding, func(a, b, c Vec3) float64 {
		p, q, r := Exp(a), Exp(b), Exp(c)
		return difference(p.Mul(q).Mul(r), p.Mul(q.Mul(r)))
	}},
	{"conjugate of p·q = q̄·p̄", rounding, func(a, b, _ Vec3) float64 {
		p, q := Exp(a), Exp(b)
		return difference(p.Mul(q).Conj(), q.Conj().Mul(p.Conj()))
	}},
	{"Rotate is a homomorphism", 10 * rounding, func(a, b, v Vec3) float64 {
		p, q := Exp(a), Exp(b)
		return p.Mul(q).Rotate(v).Sub(p.Rotate(q.Rotate(v))).Norm()
	}},
	{"Rotate keeps dot and cross products", 40 * rounding, func(a, u, v Vec3) float64 {
		q := Exp(a)
		qu, qv := q.Rotate(u), q.Rotate(v)
		return math.Abs(qu.Dot(qv)-u.Dot(v)) + qu.Cross(qv).Sub(q.Rotate(u.Cross(v))).Norm()
	}},
	{"Rotate(q, v) = q·v·q̄", 10 * rounding, func(a, v, _ Vec3) float64 {
		q := Exp(a)
		s := q.Mul(Quat{0, v.X, v.Y, v.Z}).Mul(q.Conj())
		return q.Rotate(v).Sub(Vec3{s.X, s.Y, s.Z}).Norm() + math.Abs(s.W)
	}},
	{"Rotate(q, v) = R(q)·v", 10 * rounding, func(a, v, _ Vec3) float64 {
		return Exp(a).Rotate(v).Sub(Exp(a).Mat3().MulVec(v)).Norm()
	}},
	{"ZAxis = R·e_z", rounding, func(a, _, _ Vec3) float64 {
		return Exp(a).ZAxis().Sub(Exp(a).Rotate(Vec3{Z: 1})).Norm()
	}},
	{"R(p·q) = R(p)·R(q)", 4 * rounding, func(a, b, _ Vec3) float64 {
		p, q := Exp(a), Exp(b)
		return p.Mul(q).Mat3().gap(p.Mat3().Mul(q.Mat3()))
	}},
	{"R·Rᵀ = I", 2 * rounding, func(a, _, _ Vec3) float64 {
		m := Exp(a).Mat3()
		return m.Mul(m.T()).gap(Identity().Mat3())
	}},
	{"FromMat3(R(q)) = ±q", rounding, func(a, b, _ Vec3) float64 {
		q := Exp(a).Mul(Exp(b)).Normalize()
		return apart(FromMat3(q.Mat3()), q)
	}},
	{"FromEuler(Euler(q)) = ±q", 1e-7, func(a, b, _ Vec3) float64 { // 1e-7: at pitch ±π/2
		q := Exp(a).Mul(Exp(b))
		return apart(FromEuler(q.Euler()), q)
	}},
	{"FromEuler = Rz·Ry·Rx, Yaw is its yaw", 4 * rounding, func(a, _, _ Vec3) float64 {
		q := FromEuler(a.X, a.Y/2, a.Z) // pitch within ±π/2
		parts := Exp(Vec3{Z: a.Z}).Mul(Exp(Vec3{Y: a.Y / 2})).Mul(Exp(Vec3{X: a.X}))
		gap := difference(q, parts)
		if c := math.Cos(a.Y / 2); c > 1e-3 {
			gap += c * c * math.Abs(math.Remainder(q.Yaw()-a.Z, 2*math.Pi))
		}
		return gap
	}},
	{"[a]×b = a × b", 10 * rounding, func(a, b, _ Vec3) float64 { return Hat(a).MulVec(b).Sub(a.Cross(b)).Norm() }},
}

// TestLaws holds every law at the identity, near zero, near π and at random.
func TestLaws(t *testing.T) {
	fixed := fixedPoints()
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			for i, a := range fixed {
				for j, b := range fixed {
					c := fixed[(i+7*j)%len(fixed)]
					if gap := l.gap(a, b, c); !(gap <= l.tolerance) {
						t.Fatalf("%v, %v, %v: apart by %.3g, allowed %.3g", a, b, c, gap, l.tolerance)
					}
				}
			}
			rapid.Check(t, func(rt *rapid.T) {
				a, b, c := anyRotation(rt, "a"), anyRotation(rt, "b"), anyRotation(rt, "c")
				if gap := l.gap(a, b, c); !(gap <= l.tolerance) {
					rt.Fatalf("apart by %.3g, allowed %.3g", gap, l.tolerance)
				}
			})
		})
	}
}

// TestGolden compares with scipy (testdata/golden.py).
func TestGolden(t *testing.T) {
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Phi    [3]float64 `json:"phi"`
		Quat   [4]float64 `json:"quat_wxyz"`
		Matrix Mat3       `json:"matrix"`
		RPY    [3]float64 `json:"roll_pitch_yaw"`
	}
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	const tolerance = 2e-15
	for _, row := range rows {
		phi := Vec3{row.Phi[0], row.Phi[1], row.Phi[2]}
		q := Exp(phi)
		want := Quat{row.Quat[0], row.Quat[1], row.Quat[2], row.Quat[3]}
		roll, pitch, yaw := q.Euler()
		rpy := Vec3{roll, pitch, yaw}.Sub(Vec3{row.RPY[0], row.RPY[1], row.RPY[2]})
		for what, gap := range map[string]float64{
			"Exp": apart(q, want), "Log": Log(want).Sub(phi).Norm(),
			"Mat3": q.Mat3().gap(row.Matrix), "FromMat3": apart(FromMat3(row.Matrix), want),
			"Euler": rpy.Norm(),
		} {
			allowed := tolerance
			if what == "Euler" || what == "Log" {
				allowed = 2e-14 // arctangents near ±π/2
			}
			if !(gap <= allowed) {
				t.Errorf("%s at %v: apart by %.3g, allowed %.3g", what, phi, gap, allowed)
			}
		}
	}
}

// TestGimbalLock pins the convention at pitch ±π/2: roll 0, yaw has it all.
func TestGimbalLock(t *testing.T) {
	for _, pitch := range []float64{math.Pi / 2, -math.Pi / 2} {
		for _, yaw := range []float64{-3, -0.5, 0, 1, 3} {
			roll, p, y := FromEuler(0, pitch, yaw).Euler()
			if roll != 0 || math.Abs(p-pitch) > 1e-7 || math.Abs(y-yaw) > 1e-9 {
				t.Errorf("pitch %v yaw %v: got roll %v pitch %v yaw %v", pitch, yaw, roll, p, y)
			}
		}
	}
}

// TestNormalize: scale goes away, and no direction gives NaN, not a made-up rotation.
func TestNormalize(t *testing.T) {
	q := Quat{1, 2, -3, 4}
	if got := q.Normalize(); math.Abs(got.Norm()-1) > rounding || got.X/got.W != 2 {
		t.Errorf("Normalize(%v) = %v", q, got)
	}
	if got := (Quat{}).Normalize(); !math.IsNaN(got.W) {
		t.Errorf("Normalize of zero = %v, want NaN", got)
	}
	if got := Log(Quat{3, 0.3, 0, 0}); math.Abs(got.X-2*math.Atan2(0.3, 3)) > rounding {
		t.Errorf("Log depends on the scale: %v", got)
	}
}

// fixedPoints are the rotation vectors where formulas usually break.
func fixedPoints() []Vec3 {
	directions := []Vec3{{X: 1}, {Z: -1}, {Y: math.Sqrt2 / 2, Z: math.Sqrt2 / 2}, {0.48, -0.6, 0.64}}
	sizes := []float64{
		1e-300, 1e-12, 1e-9, 1e-8, 2e-8, 1e-6, 1e-4,
		0.0999999, 0.1000001, // both sides of the series
		math.Pi / 2, math.Pi - 1e-4, math.Pi - 1e-8, math.Pi - 1e-12, math.Pi,
	}
	points := []Vec3{{}}
	for _, d := range directions {
		for _, s := range sizes {
			points = append(points, d.Scale(s))
		}
	}
	return points
}

// anyRotation draws a rotation vector: a third near zero, a third near π, a third anywhere.
func anyRotation(rt *rapid.T, label string) Vec3 {
	axis := rapid.Custom(func(rt *rapid.T) Vec3 {
		u := rapid.Float64Range(-1, 1)
		return Vec3{u.Draw(rt, "x"), u.Draw(rt, "y"), u.Draw(rt, "z")}
	}).Filter(func(v Vec3) bool { return v.Norm() > 1e-3 }).Draw(rt, label)
	tiny := math.Pow(10, rapid.Float64Range(-12, -4).Draw(rt, label+" exponent"))
	angle := tiny
	switch rapid.IntRange(0, 2).Draw(rt, label+" stratum") {
	case 1:
		angle = math.Pi - tiny
	case 2:
		angle = rapid.Float64Range(0, math.Pi).Draw(rt, label+" angle")
	}
	return axis.Scale(angle / axis.Norm())
}

func difference(p, q Quat) float64 {
	return Quat{p.W - q.W, p.X - q.X, p.Y - q.Y, p.Z - q.Z}.Norm()
}

// apart is the distance of two rotations; q and −q are one.
func apart(p, q Quat) float64 {
	return min(difference(p, q), difference(p, Quat{-q.W, -q.X, -q.Y, -q.Z}))
}

// gap is the largest difference of two matrices' entries; NaN counts as infinite.
func (m Mat3) gap(n Mat3) float64 {
	worst := 0.
	for i := range 3 {
		for j := range 3 {
			d := math.Abs(m[i][j] - n[i][j])
			if math.IsNaN(d) {
				return math.Inf(1)
			}
			worst = max(worst, d)
		}
	}
	return worst
}

func BenchmarkRotate(b *testing.B) {
	q, v := Exp(Vec3{0.3, -0.2, 0.9}), Vec3{1, 2, 3}
	for b.Loop() {
		v = q.Rotate(v)
	}
	sink = v
}

func BenchmarkExpLog(b *testing.B) {
	v := Vec3{0.3, -0.2, 0.9}
	for b.Loop() {
		v = Log(Exp(v))
	}
	sink = v
}

var sink Vec3

func ExampleExp() {
	quarterTurn := Exp(Vec3{Z: math.Pi / 2})
	v := quarterTurn.Rotate(Vec3{X: 1})
	fmt.Printf("%.3f %.3f %.3f\n", v.X, v.Y, v.Z)
	// Output: 0.000 1.000 0.000
}

func TestShorten(t *testing.T) {
	v := Vec3{3, -4, 12}
	if got := v.Shorten(13); got != v {
		t.Errorf("%v, want it as it was", got)
	}
	got := v.Shorten(6.5)
	if d := got.Sub(v.Scale(0.5)).Norm(); d > 1e-12 {
		t.Errorf("%v, want half of it", got)
	}
	if got := (Vec3{}).Shorten(0); got != (Vec3{}) {
		t.Errorf("%v of nothing", got)
	}
}
