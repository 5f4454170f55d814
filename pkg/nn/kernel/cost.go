package kernel

// Price is what a step of flight costs, as float32 reckons it in C, many robots at a time. Like Body it has no reference here.
//
// Rows: s0, s1 [State] begin with p, q, v; a, last [4] are the command between them and the one before; ref [15] is p, v,
// a and q of the reference of s1, cos and sin of its yaw; weights [10] are those of the errors of position, height, velocity,
// acceleration |Δv|/Δt, commanded rates, thrust from hover, change of the command, attitude and heading, and δ of the Huber
// penalty on the norm of each.
type Price struct {
	PerDt float64 // 1/Δt
	Hover float64 // unit of thrusts
	State int     // numbers of a state, 10 or more
}

// Numbers of a row.
const (
	priceReference = 15
	PriceWeights   = 10
	leastState     = 10 // p, q, v
)

func (p *Price) check() {
	if p.State < leastState {
		panic("kernel: a state without p, q and v")
	}
}

// PriceSteps writes the cost and the squared distance from the reference; that is not a number for a robot whose s1 is not
// finite.
func PriceSteps[F Float](p *Price, rows int, s0, s1, a, last, ref, weights, cost, off []F) bool {
	p.check()
	s0, s1, a, last = need(s0, rows*p.State), need(s1, rows*p.State), need(a, rows*bodyCommand),
		need(last, rows*bodyCommand)
	ref, weights, cost, off = need(ref, rows*priceReference), need(weights, rows*PriceWeights), need(cost, rows),
		need(off, rows)
	if !native32[F]() {
		return false
	}
	priceStepsC(p, rows, f32(s0), f32(s1), f32(a), f32(last), f32(ref), f32(weights), f32(cost), f32(off))
	return true
}

// PriceVJP adds the gradients of Σ scale·cost. Robots whose scale [rows] is 0 have none, whatever they did.
func PriceVJP[F Float](p *Price, rows int, s0, s1, a, last, ref, weights, scale, ds0, ds1, da, dlast []F) bool {
	p.check()
	s0, s1, a, last = need(s0, rows*p.State), need(s1, rows*p.State), need(a, rows*bodyCommand),
		need(last, rows*bodyCommand)
	ref, weights, scale = need(ref, rows*priceReference), need(weights, rows*PriceWeights), need(scale, rows)
	ds0, ds1, da, dlast = need(ds0, rows*p.State), need(ds1, rows*p.State), need(da, rows*bodyCommand),
		need(dlast, rows*bodyCommand)
	if !native32[F]() {
		return false
	}
	priceVJPC(p, rows, f32(s0), f32(s1), f32(a), f32(last), f32(ref), f32(weights), f32(scale), f32(ds0), f32(ds1),
		f32(da), f32(dlast))
	return true
}
