package scene

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// ring keeps the newest rows.
type ring struct {
	rows  []TickRow
	count uint64 // rows so far; row number k, from 1 on, is at (k−1) mod len
}

func newRing(n int) ring { return ring{rows: make([]TickRow, max(n, 1))} }

func (r *ring) clear() { r.count = 0 }

func (r *ring) at(k uint64) *TickRow { return &r.rows[(k-1)%uint64(len(r.rows))] }

// oldest is the number of the oldest row that is kept.
func (r *ring) oldest() uint64 {
	if n := uint64(len(r.rows)); r.count > n {
		return r.count - n + 1
	}
	return 1
}

func (r *ring) last() *TickRow {
	if r.count == 0 {
		return nil
	}
	return r.at(r.count)
}

// next is the place of the next row.
func (r *ring) next() *TickRow {
	r.count++
	return r.at(r.count)
}

func (r *ring) since(n uint64, out []TickRow) []TickRow {
	for k := max(n+1, r.oldest()); k <= r.count; k++ {
		out = append(out, *r.at(k))
	}
	return out
}

// thinned appends the rows from one stamp to before another, of every n the one that is furthest from the reference.
func (r *ring) thinned(from, to int64, n int, out []TickRow) []TickRow {
	var worst float64
	begun := false
	for k := r.oldest(); k <= r.count; k++ {
		row := r.at(k)
		if row.Stamp < from || row.Stamp >= to {
			continue
		}
		switch e := row.Error(); { // NaN is never worse
		case !begun || k%uint64(n) == 0:
			out, worst, begun = append(out, *row), e, true
		case e > worst || worst != worst:
			out[len(out)-1], worst = *row, e
		}
	}
	return out
}

// window of a residual: rows of 0.4 s, as a latent has them. A longer one is of gaps.
const (
	residualRows  = 20
	residualLimit = 0.6 // s
)

// residual is the mean acceleration over the last rows that neither the believed thrust nor gravity explains: wind,
// mostly. It is Δv/Δt − mean(R(q)·e_z·T − g·e_z), the mean by the trapezoidal rule; NaN while there are too few rows.
func (r *ring) residual() so3.Vec3 {
	unknown := so3.Vec3{X: math.NaN(), Y: math.NaN(), Z: math.NaN()}
	if r.count < r.oldest()+residualRows {
		return unknown
	}
	from, to := r.at(r.count-residualRows), r.last()
	dt := float64(to.Stamp-from.Stamp) / 1e9
	if !(dt > 0 && dt < residualLimit) {
		return unknown
	}
	var sum so3.Vec3
	before := from
	for k := r.count - residualRows + 1; k <= r.count; k++ {
		now := r.at(k)
		h := float64(now.Stamp-before.Stamp) / 1e9
		sum = sum.Add(before.explained().Add(now.explained()).Scale(h / 2))
		before = now
	}
	return to.State.V.Sub(from.State.V).Sub(sum).Scale(1 / dt)
}

// explained is the acceleration of the believed thrust and of gravity.
func (r *TickRow) explained() so3.Vec3 {
	return r.State.Q.ZAxis().Scale(r.Acting).Add(so3.Vec3{Z: -quad.Gravity})
}
