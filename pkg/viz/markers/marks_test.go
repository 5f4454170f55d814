package markers

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	visualizationmsgs "vnd/msgs/visualization_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/viz/scene"
)

// sound checks what rviz asks of every marker, and that the message can be sent.
func sound(t testing.TB, m *visualizationmsgs.MarkerArray) {
	t.Helper()
	type name struct {
		ns string
		id int32
	}
	seen := map[name]bool{}
	for i := range m.Markers {
		k := &m.Markers[i]
		if n := (name{k.Ns, k.ID}); seen[n] {
			t.Errorf("marker %v twice", n)
		} else {
			seen[n] = true
		}
		q, s := k.Pose.Orientation, k.Scale
		if math.Abs(q.W*q.W+q.X*q.X+q.Y*q.Y+q.Z*q.Z-1) > 1e-6 || k.Header.FrameID != "map" || k.Color.A == 0 ||
			s.X+s.Y+s.Z == 0 || k.Lifetime.Sec == 0 {
			t.Errorf("%s: %+v", k.Ns, k)
		}
		if len(k.Colors) != 0 && len(k.Colors) != len(k.Points) {
			t.Errorf("%s: %d points, %d colours", k.Ns, len(k.Points), len(k.Colors))
		}
		for _, p := range append(k.Points, k.Pose.Position) {
			if p.X*0+p.Y*0+p.Z*0 != 0 {
				t.Fatalf("%s: point %v", k.Ns, p)
			}
		}
		for _, c := range k.Colors {
			if !(c.R >= 0 && c.R <= 1 && c.G >= 0 && c.G <= 1 && c.B >= 0 && c.B <= 1 && c.A > 0 && c.A <= 1) {
				t.Fatalf("%s: colour %v", k.Ns, c)
			}
		}
		switch n := len(k.Points); k.Type {
		case visualizationmsgs.MarkerArrow:
			if n != 2 {
				t.Errorf("arrow %s has %d points", k.Ns, n)
			}
		case visualizationmsgs.MarkerLineStrip:
			if n < 2 {
				t.Errorf("line %s has %d points", k.Ns, n)
			}
		case visualizationmsgs.MarkerTriangleList:
			if n == 0 || n%3 != 0 {
				t.Errorf("%s: %d corners of triangles", k.Ns, n)
			}
		}
	}
	var e cdr.Encoder
	e.Reset(nil, cdr.LittleEndian)
	m.MarshalCDR(&e)
	if _, err := e.Bytes(); err != nil {
		t.Error(err)
	}
}

func named(m *visualizationmsgs.MarkerArray, ns string) (all []visualizationmsgs.Marker) {
	for _, k := range m.Markers {
		if k.Ns == ns {
			all = append(all, k)
		}
	}
	return all
}

func row(k int, p, goal so3.Vec3) scene.TickRow {
	return scene.TickRow{Stamp: int64(k) * 2e7, State: quad.State{P: p, Q: so3.FromEuler(.2, -.1, 1)}, Goal: goal,
		Sent:     quad.Command{Thrust: 2 * quad.Gravity},
		Residual: so3.Vec3{X: quad.Gravity / 2}, Novelty: .5}
}

// Corners of the tube are as far from the reference as the vehicle was, in the plane across it.
func TestTube(t *testing.T) {
	const e = .1
	var rows []scene.TickRow
	for k := range 200 {
		g := so3.Vec3{X: .05 * float64(k), Y: 1, Z: 2}
		rows = append(rows, row(k, g.Add(so3.Vec3{Y: e}), g))
	}
	rows[100].Stage, rows[100].State.P = guard.Hold, so3.Vec3{X: 900}
	rows[120].Goal.X = math.NaN()
	m := Tube(rows, "map", 1, .3)
	sound(t, m)
	if len(m.Markers) != 1 || len(m.Markers[0].Points) != 197*sides*6 {
		t.Fatalf("%d markers, %d corners", len(m.Markers), len(m.Markers[0].Points))
	}
	for i, p := range m.Markers[0].Points {
		if r := math.Hypot(p.Y-1, p.Z-2); math.Abs(r-e) > 1e-9 {
			t.Fatalf("corner %d is %g m from the reference, expected %g", i, r, e)
		}
		if k := p.X / .05; math.Abs(k-math.Round(k)) > 1e-6 {
			t.Fatalf("corner %d is at x = %g, across no reference", i, p.X)
		}
	}
	still := Tube([]scene.TickRow{row(0, so3.Vec3{X: .2}, so3.Vec3{}), row(1, so3.Vec3{X: .4}, so3.Vec3{}),
		row(2, so3.Vec3{X: .1}, so3.Vec3{X: .01})}, "map", 1, .3)
	sound(t, still)
	if len(still.Markers) != 1 || still.Markers[0].Type != visualizationmsgs.MarkerSphere ||
		math.Abs(still.Markers[0].Scale.X-.8) > 1e-12 {
		t.Errorf("%+v", still.Markers)
	}
}

// A tube around anything has sound markers.
func TestTubeOfAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1)}))
		var rows []scene.TickRow
		for k := range rapid.IntRange(0, 12).Draw(rt, "rows") {
			v := func(name string) so3.Vec3 {
				return so3.Vec3{X: f.Draw(rt, name+"x"), Y: f.Draw(rt, name+"y"), Z: f.Draw(rt, name+"z")}
			}
			rows = append(rows, row(k, v("p"), v("g")))
		}
		sound(t, Tube(rows, "map", 1, .3))
		for i := range rows {
			sound(t, Vehicle(&rows[i], "map", "hover"))
		}
	})
}

func TestVehicle(t *testing.T) {
	r := row(1, so3.Vec3{X: 1, Y: 2, Z: 3}, so3.Vec3{X: 1, Y: 2, Z: 3.1})
	m := Vehicle(&r, "map", "track")
	sound(t, m)
	thrust := named(m, "thrust")[0].Points
	up := so3.Vec3{X: thrust[1].X - thrust[0].X, Y: thrust[1].Y - thrust[0].Y, Z: thrust[1].Z - thrust[0].Z}
	if up.Sub(r.State.Q.ZAxis().Scale(2*Arrow)).Norm() > 1e-9 {
		t.Errorf("2 g of thrust are %v", up)
	}
	if a := named(m, "residual acceleration")[0].Points; math.Abs(a[1].X-a[0].X-Arrow/2) > 1e-9 || a[1].Y != 2 {
		t.Errorf("half a g along x is %v", a)
	}
	if text := named(m, "state")[0].Text; text != "track · policy · 100 mm" {
		t.Errorf("%q", text)
	}
	for _, rotor := range named(m, "body")[1:] {
		d := so3.Vec3{X: rotor.Pose.Position.X - 1, Y: rotor.Pose.Position.Y - 2, Z: rotor.Pose.Position.Z - 3}
		if math.Abs(d.Norm()-Arm) > 1e-9 || math.Abs(d.Dot(r.State.Q.ZAxis())) > 1e-9 {
			t.Errorf("a rotor at %v of the body", d)
		}
	}
	r.State.P.X = math.NaN()
	if m := Vehicle(&r, "map", "track"); len(m.Markers) != 0 {
		t.Errorf("a vehicle without a place: %+v", m)
	}
}

// TestTool: a ball where the tool is to be, the way to it, and what moves it; nothing where it is no number.
func TestTool(t *testing.T) {
	is, to := so3.Vec3{X: 0.5}, so3.Vec3{X: 0.5, Y: 0.03}
	m := Tool(is, to, "map", 1e9, "bundle 1")
	sound(t, m)
	if at := named(m, "reference")[0].Pose.Position; at.Y != 0.03 || len(named(m, "error")[0].Points) != 2 {
		t.Errorf("a reference at %v", at)
	}
	if text := named(m, "state")[0].Text; text != "bundle 1 · 30.0 mm" {
		t.Errorf("%q", text)
	}
	if is.Z = math.NaN(); len(Tool(is, to, "base", 1, "").Markers)+len(Tool(to, is, "base", 1, "").Markers) != 0 {
		t.Error("a tool without a place is drawn")
	}
}

func TestTransform(t *testing.T) {
	r := row(50, so3.Vec3{X: 1, Y: 2, Z: 3}, so3.Vec3{})
	m := Transform(&r, "map", "base_link")
	k, q := m.Transforms[0], r.State.Q
	if k.Header.FrameID != "map" || k.ChildFrameID != "base_link" || k.Header.Stamp.Sec != 1 ||
		k.Transform.Translation.Z != 3 || k.Transform.Rotation.W != q.W || k.Transform.Rotation.Z != q.Z {
		t.Errorf("%+v", k)
	}
}

func TestFlown(t *testing.T) {
	m := Flown([]scene.TickRow{row(1, so3.Vec3{X: 1}, so3.Vec3{}), row(60, so3.Vec3{X: 2}, so3.Vec3{})}, "map")
	if len(m.Poses) != 2 || m.Header.FrameID != "map" || m.Header.Stamp.Sec != 1 || m.Poses[1].Pose.Position.X != 2 {
		t.Errorf("%+v", m)
	}
}

func TestRollouts(t *testing.T) {
	path := func(y float64) []so3.Vec3 { return []so3.Vec3{{}, {X: 1, Y: y}, {X: math.NaN()}, {X: 2, Y: y}} }
	var all []scene.Prediction
	for k := range 8 {
		all = append(all, scene.Prediction{Model: path(float64(k)), Physics: path(-1)})
	}
	all = append(all, scene.Prediction{Model: []so3.Vec3{{}, {X: math.Inf(1)}}, Physics: path(-1)})
	m := Rollouts(all, "map", 1)
	sound(t, m)
	if lines := named(m, "model"); len(lines) != 4 || len(lines[3].Points) != 3 || lines[3].Points[2].Y != 7 {
		t.Errorf("%+v", lines)
	}
	if n := len(named(m, "physics")); n != 5 {
		t.Errorf("%d rollouts of physics", n)
	}
}

func TestLatents(t *testing.T) {
	p := &scene.Plane{Mean: []float64{1, 1, 1}, Axes: [2][]float64{{1, 0, 0}, {0, 1, 0}}, Scale: 2,
		Share: [2]float64{.8, .1}}
	r := row(1, so3.Vec3{}, so3.Vec3{})
	r.Z = 3
	copy(r.Latent[:], []float32{5, -1, 9})
	other, unknown := r, r
	other.Bundle = 1
	unknown.Novelty = float32(math.NaN())
	m := Latents([]scene.TickRow{other, unknown, r}, p, so3.Vec3{X: 10}, "map", 1)
	sound(t, m)
	dots := named(m, "latents")[0]
	if len(dots.Points) != 2 || math.Abs(dots.Points[1].X-(10+2*Unit)) > 1e-9 ||
		math.Abs(dots.Points[1].Y+Unit) > 1e-9 {
		t.Errorf("%+v", dots.Points)
	}
	if now := named(m, "latent now"); len(now) != 1 || now[0].Pose.Position != dots.Points[1] {
		t.Errorf("%+v", now)
	}
	if text := named(m, "latents")[1].Text; !strings.Contains(text, "80 % and 10 %") {
		t.Errorf("%q", text)
	}
	if m := Latents(nil, nil, so3.Vec3{}, "map", 1); len(m.Markers) != 0 {
		t.Errorf("%+v", m)
	}
}
