package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestSwingIsNotAnswered: of a push that comes and goes at one rhythm the policy sees hardly anything after a while, of
// gusts as strong all, and of what comes and goes along a path. A steady push comes through either way.
func TestSwingIsNotAnswered(t *testing.T) {
	const steady, most = 0.7, 1.0 // m/s²
	var rng *rand.Rand
	var gust float64
	for name, c := range map[string]struct {
		push  func(t float64) float64
		seen  [2]float64 // share of what moves
		speed float64    // m/s
	}{
		"swing of 0.7 Hz": {push: func(t float64) float64 { return most * math.Sin(2*math.Pi*0.7*t) },
			seen: [2]float64{0, 0.2}},
		"the same along a path": {func(t float64) float64 { return most * math.Sin(2*math.Pi*0.7*t) },
			[2]float64{0.9, 1.01}, 1},
		"growing swing, 0.5 Hz": {push: func(t float64) float64 { return t / 30 * math.Sin(math.Pi*t) },
			seen: [2]float64{0, 0.35}},
		"gusts": {push: func(float64) float64 {
			gust += 0.02*(-gust) + math.Sqrt(2*0.02)*most*rng.NormFloat64()
			return gust
		}, seen: [2]float64{0.9, 1.01}},
		"a push that turns about once": {push: func(t float64) float64 { return math.Copysign(most, 15-t) },
			seen: [2]float64{0.8, 1.01}},
	} {
		t.Run(name, func(t *testing.T) {
			rng = rand.New(rand.NewPCG(1, 2))
			var k Push
			param.Default(&k)
			var w swing
			var fast so3.Vec3
			var moved, seen, mean float64
			const dt, seconds, settle = 0.02, 30, 10
			for i := range int(seconds / dt) {
				at := float64(i) * dt
				push := so3.Vec3{X: c.push(at) + 0.3*rng.NormFloat64(), Z: steady}
				fast = fast.Add(push.Sub(fast).Scale(1 - math.Exp(-k.Rate*dt)))
				w.add(&k, fast, dt, true, 0)
				if s := w.of(&k, fast, w.hidden(&k, c.speed)); at > settle {
					moved, seen, mean = moved+fast.X*fast.X, seen+s.X*s.X, mean+s.Z/(seconds-settle)*dt
				}
			}
			if share := math.Sqrt(seen / moved); share < c.seen[0] || share > c.seen[1] {
				t.Errorf("%.2f of the push is seen, expected %v", share, c.seen)
			}
			if math.Abs(mean-steady) > 0.02 {
				t.Errorf("of a steady %.2f m/s² %.2f are seen", steady, mean)
			}
			if k.Swing = 0; w.of(&k, fast, w.hidden(&k, c.speed)) != fast {
				t.Error("a bundle of before does not see the push as it is")
			}
		})
	}
}

// TestStepsAreNoSwing: between steps a load that swings is found, though each step moves more than it does. Motors that
// fall short as the robot speeds up and slows down, at a rhythm of their own, are no swing.
func TestStepsAreNoSwing(t *testing.T) {
	const dt, hold, seconds, half = 0.02, 3.0, 30.0, 0.3 // s; half: of the way
	for name, c := range map[string]struct {
		load        float64 // m/s² of its swing
		least, most float64 // share of what moves that is at one rhythm
	}{"weak motors": {0, 0, 0.25}, "a load": {1, 0.4, 1}} {
		t.Run(name, func(t *testing.T) {
			var k Push
			param.Default(&k)
			var w swing
			var a arrival
			ahead := make([]quad.Reference, 2)
			var place, push so3.Vec3
			var most float64
			rng := rand.New(rand.NewPCG(3, 4))
			for i := range int(seconds / dt) {
				at := float64(i) * dt
				side := func(later float64) float64 { return math.Copysign(0.5, math.Sin(math.Pi*(at+later)/hold)) }
				for j := range ahead {
					ahead[j].P.X = side(0.4 * float64(j))
				}
				way, acceleration := min(math.Mod(at, hold)/(2*half), 1), 0.0
				if way < 1 {
					acceleration = 4 * math.Copysign(1/(4*half*half), side(0)*(0.5-way))
				}
				left := 2 * min(way, 1-way) * min(way, 1-way)
				if place.X = side(0) * (1 - 2*left); way < 0.5 {
					place.X = -side(0) * (1 - 2*left)
				}
				felt := so3.Vec3{X: -0.2 * acceleration, Y: c.load * math.Sin(4.8*at), Z: 0.1 * rng.NormFloat64()}
				push = push.Add(felt.Sub(push).Scale(1 - math.Exp(-k.Rate*dt)))
				w.add(&k, push, dt, a.step(ahead, place, dt), 0)
				if at > 10 {
					most = max(most, w.share(0))
				}
			}
			if most < c.least || most > c.most {
				t.Errorf("a share of %.2f, %.2f is hidden", most, w.hidden(&k, 0))
			}
		})
	}
}

// TestSwingStaysHidden: what was a swing is hidden for half a minute, for a robot that moves does not show it.
func TestSwingStaysHidden(t *testing.T) {
	const dt, swings, fades = 0.02, 10.0, 20.0 // s; fades: until noise alone is remembered
	var k Push
	param.Default(&k)
	var w swing
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range int((swings + fades + swingStays + 1) / dt) {
		at := float64(i) * dt
		push := so3.Vec3{X: 0.1 * rng.NormFloat64()}
		if at < swings {
			push.Y = math.Sin(4.8 * at)
		}
		w.add(&k, push, dt, true, 0)
		hidden := w.hidden(&k, 0)
		if at > 5 && at < swings+15 && hidden < 1 || at > swings+fades+swingStays && hidden > 0 {
			t.Fatalf("%.2f is hidden after %.1f s, a share of %.2f", hidden, at, w.share(0))
		}
	}
}

// TestFarOffASwingIsLikelier: what swings beside gusts as strong is found where the robot is off the place that it
// holds, and not where it is near.
func TestFarOffASwingIsLikelier(t *testing.T) {
	const dt, seconds, rate, flights = 0.02, 30.0, 3.0, 20
	var found [2]int
	for n := range 2 * flights {
		rng := rand.New(rand.NewPCG(uint64(n/2), 11))
		var k Push
		param.Default(&k)
		var w swing
		var gust, push so3.Vec3
		for i := range int(seconds / dt) {
			white := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
			gust = gust.Scale(1 - rate*dt).Add(white.Scale(0.85 * math.Sqrt(2*rate*dt)))
			swung := so3.Vec3{Y: math.Sin(4.4 * dt * float64(i))}
			push = push.Add(gust.Add(swung).Sub(push).Scale(1 - math.Exp(-k.Rate*dt)))
			off := [2]float64{0.01, 0.04}[n%2]
			if n%2 == 0 && i%5 == 0 { // near it, but far now and then
				off = 0.1
			}
			w.add(&k, push, dt, true, off)
		}
		if w.sure > 0 {
			found[n%2]++
		}
	}
	if near, far := found[0], found[1]; near > flights/4 || far < flights*2/3 {
		t.Errorf("near it %d, far from it %d of %d are found", near, far, flights)
	}
}

// TestWindBreaksOffASwing: a wind that comes within the half minute is seen two seconds later. Where a load still
// swings, it is hidden as before.
func TestWindBreaksOffASwing(t *testing.T) {
	const dt, wind, comes, lasts, late = 0.02, 2.0, 16.0, 12.0, 2.5 // s and m/s²
	for name, gone := range map[string]float64{"the load is gone": 10, "the load swings on": 100} {
		var k Push
		param.Default(&k)
		var w swing
		var fast so3.Vec3
		var swung, seen float64
		rng := rand.New(rand.NewPCG(8, 9))
		for i := range int((comes + lasts) / dt) {
			at := float64(i) * dt
			push := so3.Vec3{X: 0.1 * rng.NormFloat64()}
			if at < gone {
				push.Y = math.Sin(4.8 * at)
			}
			if at > comes {
				push.X += wind
			}
			fast = fast.Add(push.Sub(fast).Scale(1 - math.Exp(-k.Rate*dt)))
			w.add(&k, fast, dt, true, 0)
			if at < comes+late {
				continue
			}
			s := w.of(&k, fast, w.hidden(&k, 0))
			if swung, seen = swung+fast.Y*fast.Y, seen+s.Y*s.Y; s.X < 0.75*wind {
				t.Fatalf("%s: %.2f of %.0f m/s² are seen after %.1f s", name, s.X, wind, at-comes)
			}
		}
		if hidden := w.hidden(&k, 0); gone < comes && hidden > 0 {
			t.Errorf("%s: %.2f is hidden %.0f s later", name, hidden, comes+lasts-gone)
		}
		if share := math.Sqrt(seen / swung); gone > comes && share > 0.2 {
			t.Errorf("%s: %.2f of the swing is seen", name, share)
		}
	}
}

// TestGustsAreNoSwing: of forty half minutes of gusts, from the first second on, hardly one is hidden for long.
func TestGustsAreNoSwing(t *testing.T) {
	const dt, seconds, rate, flights = 0.02, 30.0, 3.0, 40
	taken := 0
	for n := range flights {
		rng := rand.New(rand.NewPCG(uint64(n), 7))
		var k Push
		param.Default(&k)
		var w swing
		var gust, push so3.Vec3
		var longest float64
		for range int(seconds / dt) {
			white := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
			gust = gust.Scale(1 - rate*dt).Add(white.Scale(math.Sqrt(2 * rate * dt)))
			push = push.Add(gust.Sub(push).Scale(1 - math.Exp(-k.Rate*dt)))
			w.add(&k, push, dt, true, 0)
			longest = max(longest, w.sure)
		}
		if longest > 0 {
			taken++
		}
	}
	if taken > 1 {
		t.Errorf("%d of %d are taken for a swing", taken, flights)
	}
}

// TestArrival: a goal that shakes by some millimetres stands still, one that moves on does not.
func TestArrival(t *testing.T) {
	const dt = 0.02
	for name, c := range map[string]struct {
		goal func(t float64) float64
		far  float64 // m, of the robot from it
		want bool
	}{
		"shakes":             {func(t float64) float64 { return 0.005 * math.Sin(50*t) }, 0, true},
		"moves on":           {func(t float64) float64 { return 0.5 * t }, 0, false},
		"stepped before 1 s": {func(t float64) float64 { return math.Copysign(0.5, t-3.5) }, 0, false},
		"swings far about":   {func(float64) float64 { return 0 }, 0.5, true},
	} {
		t.Run(name, func(t *testing.T) {
			var a arrival
			holds := false
			for i := range int(4 / dt) {
				goal := so3.Vec3{X: c.goal(float64(i) * dt)}
				holds = a.step([]quad.Reference{{P: goal}}, goal.Add(so3.Vec3{Y: c.far}), dt)
			}
			if holds != c.want {
				t.Errorf("holds a place: %v", holds)
			}
		})
	}
}
