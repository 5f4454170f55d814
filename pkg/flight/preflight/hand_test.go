package preflight

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
)

const degree = math.Pi / 180

// pose is where the hand leads to: position, and roll, pitch, yaw in degrees.
type pose struct {
	p   so3.Vec3
	rpy [3]float64
}

// way are the ends of the moves, with what hands do to them.
func way(rng *rand.Rand) [Moves]pose {
	about := func(x, spread float64) float64 { return x + spread*(2*rng.Float64()-1) }
	tilt := func() float64 { return about(0, 6) }
	up, ahead, left := about(0.5, 0.15), about(0.5, 0.15), about(0.5, 0.15)
	side := func() float64 { return about(0, 0.08) }
	at := so3.Vec3{X: 0.3, Y: -0.2, Z: 0.03}
	w := [Moves]pose{Rest: {p: at, rpy: [3]float64{0.5, -0.5, about(0, 5)}}}
	at = at.Add(so3.Vec3{X: side(), Y: side(), Z: up})
	w[Lift] = pose{at, [3]float64{tilt(), tilt(), tilt()}}
	at = at.Add(so3.Vec3{X: ahead, Y: side(), Z: side()})
	w[Forward] = pose{at, [3]float64{tilt(), tilt(), tilt()}}
	at = at.Add(so3.Vec3{X: side(), Y: left, Z: side()})
	w[Left] = pose{at, [3]float64{tilt(), tilt(), tilt()}}
	w[NoseDown] = pose{at, [3]float64{tilt(), about(45, 12), tilt()}}
	w[Level] = pose{at, [3]float64{tilt(), tilt(), tilt()}}
	w[RightDown] = pose{at, [3]float64{about(45, 12), tilt(), tilt()}}
	w[LevelAgain] = pose{at, [3]float64{tilt(), tilt(), tilt()}}
	w[TurnLeft] = pose{at, [3]float64{tilt(), tilt(), about(90, 12)}}
	w[Ahead] = pose{at.Add(so3.Vec3{X: side(), Y: about(0.5, 0.15), Z: side()}), w[TurnLeft].rpy}
	return w
}

// moved is every move at 100 Hz: a second and a half on the way, half a second held, with the shaking of a hand and the
// noise of motion capture. The rest begins where it is.
func moved(rng *rand.Rand) [Moves][]Sample {
	var all [Moves][]Sample
	w := way(rng)
	t, from := 1000.0, w[Rest]
	for m := range Moves {
		to := w[m]
		for i := range 200 {
			x := min(1, float64(i)/150)
			x = x * x * (3 - 2*x)
			shake := 0.003 * math.Sin(2*math.Pi*2*t)
			p := from.p.Add(to.p.Sub(from.p).Scale(x)).Add(so3.Vec3{X: shake, Y: -shake, Z: shake}).
				Add(so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(0.0003))
			var e [3]float64
			for k := range e {
				e[k] = (from.rpy[k] + x*(to.rpy[k]-from.rpy[k])) * degree
			}
			all[m] = append(all[m], Sample{Stamp: t, Arrival: t + 0.006 + 0.001*rng.ExpFloat64(), P: p,
				Q: so3.FromEuler(e[0], e[1], e[2])})
			t += 0.01
		}
		from = to
	}
	return all
}

// judged is what the doctor finds after a mistake was made with every sample.
func judged(seed uint64, mistake func(*Sample)) []Finding {
	all := moved(rand.New(rand.NewPCG(seed, 7)))
	var holds [Moves]Hold
	var stream []Sample
	for m := range all {
		for i := range all[m] {
			mistake(&all[m][i])
		}
		holds[m] = NewHold(all[m])
		stream = append(stream, all[m]...)
	}
	return append(append(Hands(holds), Timing("/mocap", stream)...), Velocity("/mocap", stream)...)
}

// wrongs are the findings that say so, as lines.
func wrongs(f []Finding) (lines []string) {
	for _, x := range f {
		if x.Wrong {
			lines = append(lines, x.Name+": "+x.Detail+"; "+x.Remedy)
		}
	}
	return lines
}

// holds reports whether exactly the wanted things were found wrong, each with the words.
func expect(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && i < len(got) && strings.Contains(got[i], want[i])
	}
	if !ok {
		t.Errorf("%s: found\n\t%s\nexpected\n\t%s", name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// Right samples, of many hands: nothing is found.
func TestNothingWrong(t *testing.T) {
	for seed := range uint64(40) {
		f := judged(seed, func(*Sample) {})
		expect(t, fmt.Sprint("hand ", seed), wrongs(f))
		if len(f) < 6 {
			t.Errorf("hand %d: only %d things were looked at: %+v", seed, len(f), f)
		}
	}
}

// All 48 axes of the world, for positions alone and for positions and attitudes alike, and the 24 of the body.
func TestAxes(t *testing.T) {
	for i, a := range allAxes {
		seed := uint64(i)
		mapping := a.mapping("the world's")
		if a != straight {
			want := []string{"position axes: ",
				"attitude axes: right, while those of the positions are not: " + mapping}
			if a.handed() < 0 {
				want[0] = "position axes: mirrored: " + mapping
			}
			got := wrongs(judged(seed, func(s *Sample) { s.P = a.apply(s.P) }))
			expect(t, fmt.Sprint("positions, ", mapping), got, want...)
			if len(got) > 0 && !strings.Contains(got[0], mapping) {
				t.Errorf("%s was found as %s", mapping, got[0])
			}
		}
		if a.handed() < 0 || a == straight {
			continue
		}
		q := a.quat()
		got := wrongs(judged(seed, func(s *Sample) { s.P, s.Q = a.apply(s.P), q.Mul(s.Q) }))
		expect(t, fmt.Sprint("world, ", mapping), got, "position axes: ")
		if len(got) == 1 && !strings.Contains(got[0], mapping) {
			t.Errorf("%s was found as %s", mapping, got[0])
		}
		expect(t, "body, "+mapping, wrongs(judged(seed, func(s *Sample) { s.Q = s.Q.Mul(q.Conj()) })),
			"body axes: "+firstOf(a)+a.mapping("the body's"))
		expect(t, "attitude's world, "+mapping, wrongs(judged(seed, func(s *Sample) { s.Q = q.Mul(s.Q) })),
			"attitude axes: the world of the attitude, unlike that of the positions: "+mapping)
	}
}

func firstOf(a axes) string {
	if a == frdAxes {
		return "FRD (forward, right, down): "
	}
	return ""
}

// mistake is one that labs make, and what the findings say of it.
type mistake struct {
	name    string
	mistake func(*Sample)
	want    []string
}

func (c mistake) check(t *testing.T) {
	for seed := range uint64(5) {
		expect(t, fmt.Sprint("hand ", seed), wrongs(judged(seed, c.mistake)), c.want...)
	}
}

// ned has the mocap publish NED positions and FRD attitudes.
func ned(s *Sample) {
	s.P = nedWorld.apply(s.P)
	s.Q = nedWorld.quat().Mul(s.Q).Mul(frdAxes.quat().Conj())
}

// flip reverses one of the Euler angles roll, pitch, yaw.
func flip(axis int) func(*Sample) {
	return func(s *Sample) {
		r, p, y := s.Q.Euler()
		e := [3]float64{r, p, y}
		e[axis] = -e[axis]
		s.Q = so3.FromEuler(e[0], e[1], e[2])
	}
}

// scaled multiplies positions.
func scaled(x float64) func(*Sample) {
	return func(s *Sample) { s.P = s.P.Scale(x) }
}

// angles multiplies the Euler angles.
func angles(x float64) func(*Sample) {
	return func(s *Sample) {
		r, p, y := s.Q.Euler()
		s.Q = so3.FromEuler(r*x, p*x, y*x)
	}
}

// lateBy delays the arrival of samples, s.
func lateBy(by float64) func(*Sample) {
	return func(s *Sample) { s.Arrival += by }
}

// Axes and units of positions are named.
func TestHandsFindPositionMistakes(t *testing.T) {
	for _, c := range []mistake{
		{"NED and FRD", ned, []string{"position axes: NED: its x is the world's y, its y is the world's x, its z is " +
			"the world's −z; set mocap_frame to ned", "body axes: FRD (forward, right, down)"}},
		{"FRD alone", func(s *Sample) { s.Q = s.Q.Mul(frdAxes.quat().Conj()) },
			[]string{"body axes: FRD (forward, right, down): its x is the body's x, its y is the body's −y, its z " +
				"is the body's −z"}},
		{"y up", func(s *Sample) {
			a := axes{[3]int{0, 2, 1}, [3]float64{1, 1, -1}}
			s.P, s.Q = a.apply(s.P), a.quat().Mul(s.Q)
		}, []string{"position axes: y points up, as motion capture software has it by default: its x is the world's " +
			"x, its y is the world's z, its z is the world's −y; set its up axis to z"}},
		{"millimetres", scaled(1000), []string{"these are millimetres; have the driver send metres"}},
		{"centimetres", scaled(100), []string{"these are centimetres"}},
		{"inches", scaled(39.37), []string{"these are inches"}},
		{"kilometres", scaled(0.001), []string{"these are kilometres"}},
		{"not tracked", func(s *Sample) { s.P = so3.Vec3{X: 1} },
			[]string{"positions: do not change while the robot is moved"}},
	} {
		t.Run(c.name, c.check)
	}
}

// Signs, order, direction, units and trim of attitudes are named.
func TestHandsFindAttitudeMistakes(t *testing.T) {
	for _, c := range []mistake{
		{"yaw sign", flip(2), []string{"yaw sign: yaw turns the wrong way"}},
		{"pitch sign", flip(1), []string{"pitch sign: pitch turns the wrong way"}},
		{"roll sign", flip(0), []string{"roll sign: roll turns the wrong way"}},
		{"world to body", func(s *Sample) { s.Q = s.Q.Conj() },
			[]string{"quaternion direction: it takes the world to the body"}},
		{"w first", func(s *Sample) { s.Q = so3.Quat{X: s.Q.W, Y: s.Q.X, Z: s.Q.Y, W: s.Q.Z} },
			[]string{"quaternion order: the numbers are w, x, y, z where the message has x, y, z, w"}},
		{"w last", func(s *Sample) { s.Q = so3.Quat{W: s.Q.X, X: s.Q.Y, Y: s.Q.Z, Z: s.Q.W} },
			[]string{"quaternion order: the numbers are x, y, z, w taken for w, x, y, z"}},
		{"degrees as radians", angles(1 / degree), []string{"attitude unit: a quarter turn comes out as"}},
		{"radians as degrees", angles(degree), []string{"radians taken for degrees"}},
		{"tilted body", func(s *Sample) { s.Q = s.Q.Mul(so3.Exp(so3.Vec3{X: 6 * degree})) }, []string{"trim: "}},
		{"no attitude", func(s *Sample) { s.Q = so3.Quat{} }, []string{"attitude: quaternions of norm 0, expected 1"}},
	} {
		t.Run(c.name, c.check)
	}
}

// Late, missing and foreign stamps are named.
func TestHandsFindTimingMistakes(t *testing.T) {
	for _, c := range []mistake{
		{"50 ms late", lateBy(0.05), []string{"delay: topic /mocap: stamps 57 ms old on arrival"}},
		{"100 ms late", lateBy(0.1), []string{"delay: topic /mocap: stamps 107 ms old on arrival"}},
		{"no stamps", func(s *Sample) { s.Stamp = 0 }, []string{"delay: topic /mocap: no stamps"}},
		{"stamps that stand still", func(s *Sample) { s.Stamp = 1000 },
			[]string{"delay: topic /mocap: stamps do not go on"}},
		{"another clock", func(s *Sample) { s.Stamp -= 990 },
			[]string{"delay: topic /mocap: stamps are 990 s off this machine's clock"}},
		{"a clock ahead", func(s *Sample) { s.Stamp += 0.05 },
			[]string{"stamps are 43 ms ahead of this machine's clock"}},
	} {
		t.Run(c.name, c.check)
	}
}

// Velocities in other units or frames than the positions are named.
func TestHandsFindVelocityMistakes(t *testing.T) {
	for _, c := range []mistake{
		{"mm/s", moving(func(v so3.Vec3, _ so3.Quat) so3.Vec3 { return v.Scale(1000) }),
			[]string{"positions and velocities are in different units"}},
		{"a velocity of something else", moving(func(v so3.Vec3, _ so3.Quat) so3.Vec3 {
			return so3.Vec3{X: v.Z * v.Y, Y: v.Norm()}
		}), []string{"it is not the velocity of these positions"}},
		{"a twist in the world that is taken for the body's",
			moving(func(v so3.Vec3, q so3.Quat) so3.Vec3 { return q.Rotate(v) }),
			[]string{"velocity: the twist is in the world"}},
		{"a twist in the body that is taken for the world's",
			moving(func(v so3.Vec3, q so3.Quat) so3.Vec3 { return q.Conj().Rotate(v) }),
			[]string{"velocity: the twist is in the body"}},
		{"a right velocity", moving(func(v so3.Vec3, _ so3.Quat) so3.Vec3 { return v }), nil},
		{"a reversed velocity", moving(func(v so3.Vec3, _ so3.Quat) so3.Vec3 { return v.Scale(-1) }),
			[]string{"it has the opposite sign"}},
	} {
		t.Run(c.name, c.check)
	}
}

// moving has samples come with a velocity, made of the differences of the positions that come.
func moving(mistake func(v so3.Vec3, q so3.Quat) so3.Vec3) func(*Sample) {
	var before *Sample
	v := so3.Vec3{}
	return func(s *Sample) {
		if before == nil || before.Stamp > s.Stamp {
			v = so3.Vec3{}
		} else {
			v = v.Scale(0.9).Add(s.P.Sub(before.P).Scale(10)) // over some samples
		}
		before = s
		s.V, s.Moves = mistake(v, s.Q), true
	}
}

// Half the moves were not made, or there was nothing to hear.
func TestMovesNotMade(t *testing.T) {
	f := judged(1, func(s *Sample) { s.P.Z = 0 })
	expect(t, "not lifted", wrongs(f)[:1], "positions: lifted by")
	if f := Hands([Moves]Hold{}); !f[0].Wrong || !strings.Contains(f[0].Detail, "put the robot on the floor") {
		t.Errorf("%+v", f)
	}
	if f := Timing("/mocap", nil); len(f) != 1 || !f[0].Wrong {
		t.Errorf("%+v", f)
	}
	h := NewHold(nil)
	if h.Samples != 0 {
		t.Errorf("%+v", h)
	}
}
