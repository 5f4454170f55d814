package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// Ground is a level floor: a cushion of air above it, and feet that stand on it.
type Ground struct {
	Height    float64   `param:"height" default:"0" min:"-1e6" max:"1e6" unit:"m" doc:"height of the ground in the world"`
	Effect    float64   `param:"effect" default:"1" min:"0" max:"2" doc:"strength of the ground effect: 1 is a single rotor's, 0 is none"`
	Feet      float64   `param:"feet" default:"0.03" min:"0.001" max:"5" unit:"m" doc:"the feet, one under each rotor, are this far below the centre"`
	Stiffness float64   `param:"stiffness" default:"250" min:"1" max:"1e6" unit:"N/m" doc:"stiffness of one foot"`
	Damping   float64   `param:"damping" default:"10" min:"0" max:"1000" unit:"s/m" doc:"damping of one foot: a speed v presses with 1 + damping·v times the spring's force"`
	Friction  float64   `param:"friction" default:"0.8" min:"0" max:"10" doc:"coefficient, static and sliding"`
	Velocity  []float64 `param:"velocity" default:"0,0" min:"-10" max:"10" unit:"m/s" doc:"velocity of the floor, as of a pad on a vehicle: x, y in the world"`
	Impact    float64   `param:"impact" default:"2" min:"0.01" max:"100" unit:"m/s" doc:"vertical speed from which touching the ground is a crash"`
}

// contacts are the points that can touch: four feet, then four rotors.
const contacts = 8

// ground is the contact of a body with it.
type ground struct {
	Ground
	at     [contacts]so3.Vec3 // in the body, m
	reach  float64            // of the farthest, m
	spring float64            // sideways, N/m
	damper float64            // sideways, N s/m
	moves  so3.Vec3           // velocity of the floor, m/s
	anchor [contacts]so3.Vec3 // where each point sticks, in the world
	stuck  [contacts]bool
}

func (g *Ground) check() error { return length("ground.velocity", len(g.Velocity), 2) }

func newGround(w *World) ground {
	g := ground{Ground: w.Ground, spring: w.Ground.Stiffness,
		moves: so3.Vec3{X: w.Ground.Velocity[0], Y: w.Ground.Velocity[1]}}
	// Sideways a foot carries a quarter of the mass on its spring; damped by 0.7.
	g.damper = 1.4 * math.Sqrt(g.spring*w.Airframe.Mass/4)
	for i, arm := range w.Airframe.arms() {
		g.at[i] = so3.Vec3{X: arm.X, Y: arm.Y, Z: -g.Feet}
		g.at[i+4] = arm
		g.reach = max(g.reach, g.at[i].Norm())
	}
	return g
}

func (g *ground) release() { g.stuck = [contacts]bool{} }

// near reports whether anything may touch.
func (g *ground) near(b *body) bool { return b.p.Z-g.Height < g.reach }

// clearance returns the height of the lowest point above the ground, m.
func (g *ground) clearance(b *body) float64 {
	low := math.Inf(1)
	for _, at := range g.at {
		low = min(low, b.p.Z+b.q.Rotate(at).Z-g.Height)
	}
	return low
}

// press is the force of the ground on a point that is in it by a depth, m, and moves up at a speed, m/s.
func (g *Ground) press(depth, up float64) float64 { return max(0, g.Stiffness*depth*(1-g.Damping*up)) }

// push returns the force of the ground in the world, N, and its torque about the origin in the body, N m. Each point
// presses with k·x·(1 + c·ẋ), never pulls (Hunt and Crossley 1975), and is held sideways by spring and damper to where
// it sticks, up to the cone of friction.
func (g *ground) push(b *body, r *so3.Mat3) (force, torque so3.Vec3) {
	back := r.T()
	for i, at := range g.at {
		arm := r.MulVec(at)
		x := b.p.Add(arm)
		depth := g.Height - x.Z
		if depth <= 0 {
			continue
		}
		v := b.v.Add(r.MulVec(b.w.Cross(at))).Sub(g.moves)
		f := so3.Vec3{Z: g.press(depth, v.Z)}
		if g.stuck[i] {
			f.X = -g.spring*(x.X-g.anchor[i].X) - g.damper*v.X
			f.Y = -g.spring*(x.Y-g.anchor[i].Y) - g.damper*v.Y
			if size, most := math.Hypot(f.X, f.Y), g.Friction*f.Z; size > most {
				f.X, f.Y = f.X*most/size, f.Y*most/size
			}
		}
		force = force.Add(f)
		torque = torque.Add(at.Cross(back.MulVec(f)))
	}
	return force, torque
}

// grip moves the places where points stick in a step of h seconds: a new touch sticks where it is, the floor takes its
// place along, and so does a slide.
func (g *ground) grip(b *body, h float64) {
	if !g.near(b) {
		g.release()
		return
	}
	for i, at := range g.at {
		x := b.p.Add(b.q.Rotate(at))
		depth := g.Height - x.Z
		switch {
		case depth <= 0:
			g.stuck[i] = false
		case !g.stuck[i]:
			g.stuck[i], g.anchor[i] = true, x
		default:
			g.anchor[i] = g.anchor[i].Add(g.moves.Scale(h))
			d := so3.Vec3{X: g.anchor[i].X - x.X, Y: g.anchor[i].Y - x.Y}
			most := g.Friction * g.Stiffness * depth / g.spring
			if n := d.Norm(); n > most {
				g.anchor[i] = so3.Vec3{X: x.X + d.X*most/n, Y: x.Y + d.Y*most/n}
			}
		}
	}
}
