package pusher

import (
	"cmp"
	"math"
)

// The tool's servo, as a Cartesian controller of an arm has it.
const (
	Gain     = 100 // N for each m/s that the tool lags
	toolMass = 1.5 // kg
)

const (
	gravity = 9.81
	// lever is the greatest torque of friction about the middle of a square over the greatest force: pressure is even.
	lever = 0.3826 * Side
	// thin is the width over which contact begins, m: gradients tell of it from a little away.
	thin = 0.0005
)

// prior is a quasi-static step: the tool follows its command as a lag of first order, and what it would overlap the
// box by moves the box, without friction between the two, by an ellipsoid as limit surface. Friction on the table makes
// the tool lag by what its servo must push with.
type prior struct {
	dt, lag   float64 // s; m that the tool stays behind in a step while it pushes
	keep, way float64 // shares of its velocity, and metres for each m/s of it, that are left to the tool after a step
	edge      float64 // m
}

func newPrior(r Robot) prior {
	const late = toolMass / Gain
	keep := math.Exp(-r.Dt / late)
	way := late * (1 - keep)
	return prior{r.Dt, r.Force() / Gain * (r.Dt - way), keep, way, cmp.Or(r.Edge, thin)}
}

// planar is a state, or a gradient of one.
type planar struct {
	tool, box               vector
	heading                 float64
	toolVelocity, boxVector vector
	rate                    float64
}

// push is a step, with what its way back needs.
type push struct {
	turned             rotation
	p, n               vector // tool after a free step, and the direction from the box to it: in the box's frame
	bend               float64
	moves, touches     float64 // slopes of the two
	move, back         float64 // of box and tool along n, m
	arm, share, travel float64 // of the contact; share is of move, that the box does not take by turning
	next               planar
}

// free moves the tool as if there were no box, and returns where it is in the box's frame.
func (f *prior) free(s *planar, a vector) (tool, p vector) {
	tool = s.tool.add(f.way, s.toolVelocity).add(f.dt-f.way, a)
	return tool, turn(s.heading).back(tool.add(-1, s.box))
}

// step takes a step from s under the command a.
func (f *prior) step(s *planar, a vector, u *push) {
	tool, p := f.free(s, a)
	distance, n, bend := gap(p)
	u.turned, u.p, u.n, u.bend = turn(s.heading), p, n, bend
	var touch float64
	u.move, u.moves = soft(-distance-f.lag, f.edge)
	touch, u.touches = soft(-distance, f.edge)
	u.back = touch - u.move
	u.arm = p.cross(n)
	u.share = 1 / (1 + u.arm*u.arm/(lever*lever))
	u.travel = u.move * u.share
	outward := u.turned.on(n)
	turned := -u.arm * u.travel / (lever * lever)
	u.next = planar{tool: tool.add(u.back, outward), box: s.box.add(-u.travel, outward), heading: s.heading + turned,
		toolVelocity: a.add(f.keep, s.toolVelocity.add(-1, a)).add(u.back*f.slows(), outward),
		boxVector:    vector{}.add(-u.travel/f.dt, outward), rate: turned / f.dt}
}

// slows is by how much the tool is slower for each metre that it was held back.
func (f *prior) slows() float64 { return (1 - f.keep) / (f.dt - f.way) }

// pull turns the gradient g of u.next into those of the state and of the command.
func (f *prior) pull(u *push, g *planar) (ds planar, da vector) {
	const squared = lever * lever
	held := g.tool.add(f.slows(), g.toolVelocity) // of back·outward
	moved := g.box.add(1/f.dt, g.boxVector)       // of −travel·outward
	turned := g.heading + g.rate/f.dt
	outward := held.add(0, held)
	for k := range outward {
		outward[k] = u.back*held[k] - u.travel*moved[k]
	}
	dn := u.turned.back(outward)
	ds.heading = g.heading + outward.dot(u.turned.on(u.n.left()))
	dtravel := -u.turned.back(moved).dot(u.n) - turned*u.arm/squared
	dback := u.turned.back(held).dot(u.n)
	darm := -turned*u.travel/squared - dtravel*u.move*u.share*u.share*2*u.arm/squared
	dn = dn.add(darm, u.p.left())
	distance := -((dtravel*u.share-dback)*u.moves + dback*u.touches)
	dp := vector{u.n[1], -u.n[0]}.add(0, u.n)
	for k := range dp {
		dp[k] = darm*dp[k] + distance*u.n[k] + u.bend*(dn[k]-dn.dot(u.n)*u.n[k])
	}
	ds.box = g.box
	ds.tool = g.tool
	f.pullPlace(u.turned, u.p, dp, &ds)
	ds.toolVelocity = ds.toolVelocity.add(f.keep, g.toolVelocity).add(f.way, g.tool)
	da = da.add(1-f.keep, g.toolVelocity).add(f.dt-f.way, ds.tool)
	return ds, da
}

// pullPlace adds the pullback of dp, of a free tool in the box's frame, to ds; the command's is (dt − way) times what
// the tool's gets.
func (f *prior) pullPlace(r rotation, p, dp vector, ds *planar) {
	world := r.on(dp)
	ds.tool = ds.tool.add(1, world)
	ds.box = ds.box.add(-1, world)
	ds.heading -= p.left().dot(dp)
	ds.toolVelocity = ds.toolVelocity.add(f.way, world)
}
