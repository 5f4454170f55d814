package reference

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// drawn returns a spec of any kind but csv, with parameters in flyable ranges.
func drawn(rt *rapid.T) Spec {
	x := func(name string, lo, hi float64) float64 { return rapid.Float64Range(lo, hi).Draw(rt, name) }
	at := func(name string) []float64 { return []float64{x(name, -2, 2), x(name, -2, 2), x(name, 0, 3)} }
	speed, accel, yaw := x("speed", 0.2, 4), x("acceleration", 0.5, 8), x("yaw", -3, 3)
	switch rapid.IntRange(0, 5).Draw(rt, "kind") {
	case 0:
		return &Hover{at("point"), yaw}
	case 1:
		return &FigureEight{at("center"), x("width", 0.5, 5), x("depth", 0.2, 3), x("period", 3, 10),
			float64(rapid.IntRange(0, 4).Draw(rt, "ramp")), yaw,
			rapid.Bool().Draw(rt, "along")}
	case 2:
		return &Landing{at("to"), at("from"), at("velocity"), yaw, speed, speed, accel, at("pad")}
	case 3:
		return &Star{at("center"), x("radius", 0.3, 2), 5 + 2*rapid.IntRange(0, 3).Draw(rt, "tips"), speed, accel, yaw}
	case 4:
		return &ZigZag{at("center"), x("length", 1, 4), x("width", 0.5, 2), rapid.IntRange(1, 8).Draw(rt, "legs"),
			speed, accel, yaw,
			rapid.Bool().Draw(rt, "repeat")}
	}
	p := &Polynomial{Speed: speed, Acceleration: accel, Yaw: yaw,
		Minimum: rapid.SampledFrom([]string{"snap", "jerk"}).Draw(rt, "minimum")}
	for i := range rapid.IntRange(2, 8).Draw(rt, "points") {
		q := at("point")
		q[0] += 5 * float64(i) // no two in one place
		p.Points = append(p.Points, q...)
	}
	return p
}

func made(rt interface{ Fatalf(string, ...any) }, s Spec) Reference {
	r, err := New(s)
	if err != nil {
		rt.Fatalf("%+v: %v", s, err)
	}
	return r
}

// span is the time over which a reference is looked at, beyond its end or round.
func span(r Reference) float64 { return 1.3*r.Horizon() + 1 }

// derivatives holds V, A and YawRate to central differences, in units of the whole motion.
func derivatives(rt interface{ Fatalf(string, ...any) }, r Reference) {
	const h = 1e-5
	var fastest, hardest float64
	for i := range 200 {
		q := r.At(span(r) * float64(i) / 200)
		fastest, hardest = max(fastest, q.V.Norm()), max(hardest, q.A.Norm())
	}
	for i := range 300 {
		t := h + span(r)*(float64(i)+0.37)/300
		a, b, now := r.At(t-h), r.At(t+h), r.At(t)
		if e := b.P.Sub(a.P).Scale(0.5 / h).Sub(now.V).Norm(); !(e < 1e-5*(1+fastest+hardest)) {
			rt.Fatalf("%+v at %g s: V is %v, P changes by %v", r.Spec(), t, now.V, b.P.Sub(a.P).Scale(0.5/h))
		}
		if e := math.Remainder(b.Yaw-a.Yaw, 2*math.Pi)/(2*h) -
			now.YawRate; !(math.Abs(e) < 1e-4*(1+math.Abs(now.YawRate))) {
			rt.Fatalf("%+v at %g s: YawRate is %v, off by %v", r.Spec(), t, now.YawRate, e)
		}
		if apart := b.A.Sub(a.A).Norm(); apart > 0.5*h*1e3*(1+hardest) { // a step of the acceleration within ±h
			continue
		}
		if e := b.V.Sub(a.V).Scale(0.5 / h).Sub(now.A).Norm(); !(e < 1e-3*(1+hardest)) {
			rt.Fatalf("%+v at %g s: A is %v, V changes by %v", r.Spec(), t, now.A, b.V.Sub(a.V).Scale(0.5/h))
		}
	}
}

// smooth holds position and velocity to change by no more than speed and acceleration explain, over every instant.
func smooth(rt interface{ Fatalf(string, ...any) }, r Reference) {
	n := 4000
	dt := span(r) / float64(n)
	last := r.At(0)
	for i := range n {
		now := r.At(dt * float64(i+1))
		most := 1.01*max(last.V.Norm(), now.V.Norm()) + 0.02*(1+last.A.Norm()+now.A.Norm())
		if step := now.P.Sub(last.P).Norm(); !(step <= most*dt+1e-9) {
			rt.Fatalf("%+v: P jumps by %g m at %g s", r.Spec(), step, dt*float64(i))
		}
		if step := now.V.Sub(last.V).Norm(); !(step <= dt*(2*max(last.A.Norm(), now.A.Norm())+5)+0.02) {
			rt.Fatalf("%+v: V jumps by %g m/s at %g s", r.Spec(), step, dt*float64(i))
		}
		last = now
	}
}

func TestDerivatives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { derivatives(rt, made(rt, drawn(rt))) })
}

func TestContinuous(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { smooth(rt, made(rt, drawn(rt))) })
}

// Every reference ends, or goes round, as Duration and Horizon say.
func TestDurationAndHorizon(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := made(rt, drawn(rt))
		if d := r.Duration(); d > 0 {
			end, pad := r.At(d), so3.Vec3{}
			if l, ok := r.Spec().(*Landing); ok {
				pad = so3.Vec3{X: l.ToVelocity[0], Y: l.ToVelocity[1], Z: l.ToVelocity[2]}
			}
			for _, later := range []float64{0, 1e-3, 7, 1e6} {
				off := r.At(d + later).P.Sub(end.P).Sub(pad.Scale(later)).Norm()
				if q := r.At(d + later); off > 1e-12*(1+later) || q.V != pad || q.A != (so3.Vec3{}) || q.YawRate != 0 {
					rt.Fatalf("%+v %g s after its end: %+v", r.Spec(), later, q)
				}
			}
			return
		}
		lo, hi := r.At(0).P, r.At(0).P
		for i := range 2000 {
			p := r.At(r.Horizon() * float64(i) / 2000).P
			lo = so3.Vec3{X: min(lo.X, p.X), Y: min(lo.Y, p.Y), Z: min(lo.Z, p.Z)}
			hi = so3.Vec3{X: max(hi.X, p.X), Y: max(hi.Y, p.Y), Z: max(hi.Z, p.Z)}
		}
		for i := range 500 {
			p := r.At(r.Horizon() + float64(i)*0.1237).P
			for _, x := range [][3]float64{{p.X, lo.X, hi.X}, {p.Y, lo.Y, hi.Y}, {p.Z, lo.Z, hi.Z}} {
				if x[0] < x[1]-0.01 || x[0] > x[2]+0.01 {
					rt.Fatalf("%+v: %v is outside of all that came before its horizon", r.Spec(), p)
				}
			}
		}
	})
}

// Speed and acceleration stay within what the spec asks for, and one of them is nearly used up.
func TestPace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawn(rt)
		var v, a float64
		switch s := s.(type) {
		case *Star:
			v, a = s.Speed, s.Acceleration
		case *ZigZag:
			v, a = s.Speed, s.Acceleration
		case *Polynomial:
			v, a = s.Speed, s.Acceleration
		default:
			return
		}
		r := made(rt, s)
		var fastest, hardest float64
		for i := range 20000 {
			q := r.At(r.Horizon() * float64(i) / 20000)
			fastest, hardest = max(fastest, q.V.Norm()/v), max(hardest, q.A.Norm()/a)
		}
		if fastest > 1.01 || hardest > 1.01 || max(fastest, hardest) < 0.97 {
			rt.Fatalf("%+v: %.3f of the speed, %.3f of the acceleration", s, fastest, hardest)
		}
	})
}

func TestLandingOnMovingPad(t *testing.T) {
	r, err := Parse("test", []byte(`{"kind": "landing", "to": [1, 2, 0.05], "to_velocity": [0.3, -0.1, 0]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := quad.State{P: so3.Vec3{X: -1, Y: 0.5, Z: 2}, V: so3.Vec3{X: 0.6, Y: -0.2, Z: 0.3}, Q: so3.Identity()}
	if r, err = StartAt(r, &s); err != nil {
		t.Fatal(err)
	}
	if q := r.At(0); q.P.Sub(s.P).Norm() > 1e-12 || q.V.Sub(s.V).Norm() > 1e-12 {
		t.Errorf("begins with %+v", q)
	}
	d, pad := r.Duration(), so3.Vec3{X: 0.3, Y: -0.1}
	if q := r.At(d); q.P.Sub(pad.Scale(d)).Sub(so3.Vec3{X: 1, Y: 2, Z: 0.05}).Norm() > 1e-12 || q.V != pad {
		t.Errorf("touches down with %+v", q)
	}
	last := r.At(0.8 * d)
	if math.Hypot(last.V.X-pad.X, last.V.Y-pad.Y) > 1e-12 || last.V.Z >= 0 {
		t.Errorf("the last of it is not straight down on the pad: %+v", last)
	}
}

// What is written is what was read, to the last bit.
func TestFormatAndParse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := made(rt, drawn(rt))
		text, err := Format(r.Spec())
		if err != nil {
			rt.Fatal(err)
		}
		back, err := Parse("back", text)
		if err != nil {
			rt.Fatalf("%s: %v", text, err)
		}
		for i := range 50 {
			at := span(r) * float64(i) / 50
			if back.At(at) != r.At(at) {
				rt.Fatalf("%s: another reference at %g s", text, at)
			}
		}
	})
}

func TestDefaults(t *testing.T) {
	for _, kind := range kinds {
		s := kind()
		if err := param.Check(s); err != nil {
			t.Error(err)
		}
	}
	r, err := Parse("test", []byte(`{"kind": "figure_eight"}`))
	if err != nil {
		t.Fatal(err)
	}
	var x, y, v float64
	for i := range 10000 {
		q := r.At(2 + 4.93*float64(i)/10000)
		x, y, v = max(x, q.P.X), max(y, q.P.Y), max(v, q.V.Norm())
	}
	if math.Abs(x-1.5) > 1e-3 || math.Abs(y-0.5) > 1e-3 || math.Abs(v-2.3) > 0.01 {
		t.Errorf("the figure-eight is %.3f × %.3f m at %.3f m/s", 2*x, 2*y, v)
	}
	if q := r.At(0); q.V.Norm() != 0 || q.P != (so3.Vec3{Z: 1}) {
		t.Errorf("it does not begin at rest in its middle: %+v", q)
	}
}

// The x axis points where the path goes.
func TestAlongPath(t *testing.T) {
	r, err := Parse("test", []byte(`{"kind": "figure_eight", "along_path": true}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		q := r.At(0.1 + 0.05*float64(i))
		if e := math.Remainder(math.Atan2(q.V.Y, q.V.X)-q.Yaw, 2*math.Pi); math.Abs(e) > 1e-9 {
			t.Fatalf("yaw %g, path %v", q.Yaw, q.V)
		}
	}
}

// A polynomial passes its points at their times, and its snap is least: any bump that keeps points and rest adds to it.
func TestPolynomialIsLeast(t *testing.T) {
	for _, c := range []struct {
		minimum string
		order   int
	}{{"snap", 4}, {"jerk", 3}} {
		times := []float64{0, 1, 1.7, 3}
		s := &Polynomial{Points: []float64{0, 0, 1, 1, 1, 1, 2, 0, 1.5, 1, -1, 1}, Times: times, Minimum: c.minimum,
			Speed: 1, Acceleration: 1}
		r := made(t, s)
		for i, at := range times {
			if p := r.At(at).P; p.Sub(so3.Vec3{X: s.Points[3*i], Y: s.Points[3*i+1],
				Z: s.Points[3*i+2]}).Norm() > 1e-9 {
				t.Errorf("%s: at %g s it is at %v", c.minimum, at, p)
			}
		}
		bump := func(u float64) float64 { // 0 with all derivatives that count at every time of a point
			b := 1.
			for _, at := range times {
				b *= math.Pow(u-at, float64(c.order))
			}
			return b
		}
		cost := func(scale float64) float64 { // ∫ of the squared derivative, by finite differences
			const h = 0.01
			sum := 0.
			for u := 3 * h; u < 3-3*h; u += h {
				f := func(k float64) float64 { return r.At(u+k*h).P.X + scale*bump(u+k*h) }
				d := f(2) - 4*f(1) + 6*f(0) - 4*f(-1) + f(-2)
				if c.order == 3 {
					d = (f(2) - 2*f(1) + 2*f(-1) - f(-2)) / 2
				}
				sum += d * d
			}
			return sum
		}
		least := cost(0)
		for _, scale := range []float64{-1, -0.05, 0.05, 1} {
			if got := cost(scale); got <= least {
				t.Errorf("%s: a bump of %g lowers the cost from %g to %g", c.minimum, scale, least, got)
			}
		}
	}
}

func TestStartBindsLanding(t *testing.T) {
	r, err := Parse("test", []byte(`{"kind": "landing", "to": [1, 2, 0.05]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := quad.State{P: so3.Vec3{X: -1, Y: 0.5, Z: 2}, V: so3.Vec3{X: 0.6, Y: -0.2, Z: 0.3},
		Q: so3.FromEuler(0.2, 0.1, 1)}
	if r, err = StartAt(r, &s); err != nil {
		t.Fatal(err)
	}
	if q := r.At(0); q.P.Sub(s.P).Norm() > 1e-12 || q.V.Sub(s.V).Norm() > 1e-12 || math.Abs(q.Yaw-1) > 1e-12 {
		t.Errorf("begins with %+v", q)
	}
	end := r.At(r.Duration())
	if end.P.Sub(so3.Vec3{X: 1, Y: 2, Z: 0.05}).Norm() > 1e-12 || end.V.Norm() != 0 {
		t.Errorf("ends with %+v", end)
	}
	last := r.At(0.8 * r.Duration())
	if math.Hypot(last.V.X, last.V.Y) > 1e-12 || last.V.Z >= 0 {
		t.Errorf("the last of it is not straight down: %+v", last)
	}
	again, err := StartAt(r, &quad.State{})
	if err != nil || again != r {
		t.Errorf("a landing that has its start was moved (%v)", err)
	}
}

func TestAtAllocatesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := made(rt, drawn(rt))
		at := 0.
		if n := testing.AllocsPerRun(20, func() { r.At(at); at += 0.1 }); n != 0 {
			rt.Fatalf("%s: %v allocations", r.Spec().Kind(), n)
		}
	})
}

func TestBadJSON(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "JSON at byte 0: unexpected EOF"},
		{`[]`, "expected an object"},
		{`{"kind": "hover"`, "unexpected EOF"},
		{`{"kind": "hover"} x`, "JSON at byte"},
		{`{"kind": "hover"} {}`, "expected nothing after the object"},
		{`{}`, `"kind" is missing, expected hover, figure_eight, landing, star, zig_zag, polynomial, csv`},
		{`{"kind": "loop"}`, `"kind": "loop" is none, expected hover`},
		{`{"kind": 3}`, `"kind": "3" is none, expected hover`},
		{`{"kind": "hover", "kind": "star"}`, `"kind" is there twice`},
		{`{"kind": "figure_eight", "perod": 4}`, `figure_eight: parameter "perod": unknown, did you mean "period"?`},
		{`{"kind": "figure_eight", "period": 0}`,
			`figure_eight: parameter "period": 0 is out of range, expected 0.5 … 3600 s`},
		{`{"kind": "figure_eight", "period": "4"}`, `parameter "period": got the string "4", expected a double`},
		{`{"kind": "figure_eight", "period": null}`, `parameter "period": got null, expected a value`},
		{`{"kind": "figure_eight", "period": {}}`, `parameter "period": got an object, expected a value`},
		{`{"kind": "figure_eight", "period": 1e999}`, `parameter "period": `},
		{`{"kind": "figure_eight", "along_path": 1}`, `parameter "along_path": 1 is an integer, expected a bool`},
		{`{"kind": "hover", "point": [1, 2]}`, `parameter "point": got 2 numbers, expected [x, y, z]`},
		{`{"kind": "hover", "point": [[1, 2], [3, 4]]}`,
			`parameter "point": element 0 has 2 numbers, expected [x, y, z]`},
		{`{"kind": "hover", "point": [1, 2, "3"]}`, `parameter "point": element 2`},
		{`{"kind": "star", "tips": 6}`, `star: parameter "tips": 6 is even, expected an odd number`},
		{`{"kind": "star", "tips": 5.5}`, `parameter "tips": 5.5 is a double, expected an integer`},
		{`{"kind": "landing", "from": [1]}`, `parameter "from": got 1 numbers`},
		{`{"kind": "polynomial"}`, `parameter "points": got 0 points, expected at least two`},
		{`{"kind": "polynomial", "points": [[0, 0, 1], [0, 0, 1]]}`, `parameter "points": points 0 and 1 are the same`},
		{`{"kind": "polynomial", "points": [[0, 0, 1], [1, 0, 1]], "times": [0]}`,
			`parameter "times": got 1, expected one for each of the 2 points`},
		{`{"kind": "polynomial", "points": [[0, 0, 1], [1, 0, 1]], "times": [1, 2]}`,
			`parameter "times": begins at 1, expected 0`},
		{`{"kind": "polynomial", "points": [[0, 0, 1], [1, 0, 1]], "times": [0, 0]}`,
			`parameter "times": element 1 is 0 after 0`},
		{`{"kind": "polynomial", "points": [[0, 0, 1], [1, 0, 1]], "repeat": true}`, `the last point is not the first`},
		{`{"kind": "polynomial", "points": [[0, 0, 1], [1, 0, 1]], "minimum": "crackle"}`, `parameter "minimum": `},
		{`{"kind": "csv"}`, `parameter "file": is empty`},
		{`{"kind": "csv", "file": "/nowhere/at all.csv"}`, `parameter "file": stat /nowhere/at all.csv`},
	} {
		_, err := Parse("reference_json", []byte(c.in))
		if err == nil || !strings.HasPrefix(err.Error(), "reference_json: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.in, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %q", c.in, err)
		}
	}
	var s Hover
	param.Default(&s)
	s.Yaw = math.NaN()
	if _, err := New(&s); err == nil || !strings.Contains(err.Error(), `parameter "yaw": NaN`) {
		t.Errorf("NaN made in Go: %v", err)
	}
}

func write(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "path.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCSV(t *testing.T) {
	circle := func(columns int) string {
		var b strings.Builder
		fmt.Fprintln(&b, headers[(columns-4+1)/2])
		for i := range 200 {
			at := 5 + 0.05*float64(i) + 0.01*float64(i%2)
			sin, cos := math.Sincos(at)
			fmt.Fprintf(&b, "%v,%v,%v,%v", at, 2*cos, 2*sin, 1.5)
			if columns > 4 {
				fmt.Fprintf(&b, ",%v", math.Remainder(at, 2*math.Pi))
			}
			if columns > 5 {
				fmt.Fprintf(&b, ",%v,%v,0", -2*sin, 2*cos)
			}
			fmt.Fprintln(&b)
		}
		return b.String()
	}
	for _, columns := range []int{4, 5, 8} {
		r := made(t, &CSV{File: write(t, circle(columns))})
		derivatives(t, r)
		smooth(t, r)
		for i := range 100 { // inside, where nothing of the ends is felt
			at := 0.5 + 0.08*float64(i)
			sin, cos := math.Sincos(at + 5)
			q := r.At(at)
			if e := q.P.Sub(so3.Vec3{X: 2 * cos, Y: 2 * sin, Z: 1.5}).Norm(); e > 1e-4 {
				t.Fatalf("%d columns: %g m off the circle at %g s", columns, e, at)
			}
			if e := math.Remainder(q.Yaw-at-5, 2*math.Pi); columns > 4 &&
				(math.Abs(e) > 1e-6 || math.Abs(q.YawRate-1) > 1e-3) {
				t.Fatalf("%d columns: yaw off by %g at %g s, rate %g", columns, e, at, q.YawRate)
			}
		}
		if columns == 8 && r.Duration() < 10.5 { // 9.96 s of table, and 2 m/s to lose
			t.Errorf("no room to brake: %g s", r.Duration())
		}
	}
}

func TestBadCSV(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ":1: the file is empty, expected the header t,x,y,z or"},
		{"t,x,y\n0,0,0\n", ":1: header \"t,x,y\", expected t,x,y,z or"},
		{"t,x,y,z\n0,0,0,1\n", ": 1 rows below the header, expected at least 2"},
		{"t,x,y,z\n0,0,0,1\n1,0,0\n", ":3: 3 fields, expected 4: t,x,y,z"},
		{"t,x,y,z\n0,0,0,1\n\n1,0,zero,1\n", ":4: y is \"zero\", expected a number"},
		{"t,x,y,z\n0,0,0,1\n1,0,NaN,1\n", ":3: y is \"NaN\", expected a number"},
		{"t,x,y,z\n0,0,0,1\n0,0,0,1\n", ":3: t is 0 after 0, expected at least 0.0001 s more"},
		{"t,x,y,z\n0,0,0,1\n1,0,\"0,1\n", ":3: column"},
	} {
		_, err := New(&CSV{File: write(t, c.in)})
		if err == nil || !strings.Contains(err.Error(), "path.csv"+c.want) {
			t.Errorf("%q\n got %v\nwant %s", c.in, err, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	r, err := Parse("test", []byte(`{"kind": "figure_eight", "ramp": 0, "period": 4}`))
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := so3.Vec3{X: -1.51, Y: -1, Z: 0}, so3.Vec3{X: 1.51, Y: 1, Z: 2}
	if err := Check(r, lo, hi); err != nil {
		t.Error(err)
	}
	lo.X = -1.4 // x = −1.5 sin(π t/2) is there at t = 2 + 2/π·asin(1.4/1.5) = 2.77 s
	want := "the reference (figure_eight) leaves the geofence at t = 2.77 s: x is -1.40"
	if err := Check(r, lo, hi); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s …", err, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, kind := range kinds {
		s := kind()
		param.Default(s)
		text, err := Format(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"kind":"polynomial","points":[[0,0,1],[1,1,1],[2,0,1]],"times":[0,1,2.5]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("csv")) {
			t.Skip() // no files of this machine
		}
		r, err := Parse("fuzz", data)
		if err != nil {
			return
		}
		for _, at := range []float64{-1, 0, 0.3, r.Horizon(), 1e4} {
			if q := r.At(at); !(q.P.Norm() < 1e12) || !(q.V.Norm() < 1e18) {
				t.Fatalf("%s: %+v at %g s", data, q, at)
			}
		}
		text, err := Format(r.Spec())
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Parse("back", text); err != nil || back.At(0.3) != r.At(0.3) {
			t.Fatalf("%s is not read back (%v)", text, err)
		}
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("t,x,y,z\n0,0,0,1\n1,0,0,1\n"))
	f.Add([]byte("t,x,y,z,yaw\n0,0,0,1,3\n# a note\n1,0,0,1,-3\n2,1,1,1,0\n"))
	f.Add([]byte("t,x,y,z,yaw,vx,vy,vz\n0,0,0,1,3,0,0,0\n1,0,0,1,-3,1,1,1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		knots, err := readKnots("fuzz.csv", bytes.NewReader(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz.csv:") {
				t.Fatalf("an error without its place: %v", err)
			}
			return
		}
		r := &table{knots: knots}
		for i := range 100 {
			at := span(r) * float64(i) / 100
			if q := r.At(at); q.P.Norm() != q.P.Norm() || math.Abs(q.Yaw) > 3.15 {
				t.Fatalf("%q: %+v at %g s", data, q, at)
			}
		}
	})
}

func BenchmarkAt(b *testing.B) {
	for _, text := range []string{`{"kind":"figure_eight"}`, `{"kind":"star"}`, `{"kind":"landing"}`} {
		r, err := Parse("bench", []byte(text))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(r.Spec().Kind(), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				r.At(float64(i) * 0.02)
			}
		})
	}
}
