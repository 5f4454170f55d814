package kernel

// View is what a policy sees of a step, as float32 puts it together in C. Like Body it has no reference here.
//
// Rows: s [State] begins with p, q, v; ref [3·Looks+5] holds Looks positions of the reference, its velocity, cos and sin of
// its yaw; x [Width] begins with Place numbers of the place (the positions less p, or what is seen in their stead), v, the
// reference's velocity less v, R row by row, cos and sin of the yaw, and the past actions, youngest first. past [Past][rows][4]
// has the eldest first.
type View struct {
	Looks, Place, Past int
	State, Width       int
}

const viewRest = 17 // numbers of a row between the place and the actions

func (v *View) check(rows, s, past, x int, seen bool) {
	if v.State < leastState || rows > 0 && !seen && v.Place != 3*v.Looks {
		panic("kernel: a view of what is not there")
	}
	if s < rows*v.State || past < v.Past*rows*bodyCommand || x < rows*v.Width ||
		v.Place+viewRest+v.Past*bodyCommand > v.Width {
		panic("kernel: a slice shorter than a view's rows")
	}
}

// Observe writes x. seen [rows×Place] may be nil, and Place is then 3·Looks.
func Observe[F Float](v *View, rows int, s, ref, seen, past, x []F) bool {
	v.check(rows, len(s), len(past), len(x), seen != nil)
	ref, seen = need(ref, rows*(3*v.Looks+5)), maybe(seen, rows*v.Place)
	if !native32[F]() {
		return false
	}
	observeC(v, rows, f32(s), f32(ref), f32(seen), f32(past), f32(x))
	return true
}

// ObserveVJP adds the pullback of dx through Observe to ds, to dseen where there is one, and to dpast.
func ObserveVJP[F Float](v *View, rows int, s, dx, ds, dseen, dpast []F) bool {
	v.check(rows, min(len(s), len(ds)), len(dpast), len(dx), dseen != nil)
	dseen = maybe(dseen, rows*v.Place)
	if !native32[F]() {
		return false
	}
	observeVJPC(v, rows, f32(s), f32(dx), f32(ds), f32(dseen), f32(dpast))
	return true
}

// Normalise turns the rows of x [rows×n] into (x − mean)·scale.
func Normalise[F Float](rows int, mean, scale, x []F) {
	n := len(mean)
	scale, x = need(scale, n), need(x, rows*n)
	if native32[F]() {
		normaliseC(rows, n, f32(mean), f32(scale), f32(x))
		return
	}
	normaliseGo(rows, n, mean, scale, x)
}

// ScaleRows multiplies the rows of x [rows×n] by scale [n].
func ScaleRows[F Float](rows int, scale, x []F) {
	n := len(scale)
	x = need(x, rows*n)
	if native32[F]() {
		scaleRowsC(rows, n, f32(scale), f32(x))
		return
	}
	scaleRowsGo(rows, n, scale, x)
}
