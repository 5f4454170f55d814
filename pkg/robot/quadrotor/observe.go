package quadrotor

import "vnd/pkg/nn/kernel"

// View is what a policy sees of a step.
//
// Rows: s [State] begins with p, q, v; ref [3·PreviewPoints+5] holds so many positions of the reference, its velocity,
// cos and sin of its yaw; x [Width] begins with Place numbers of the place (the positions less p, or what is seen in
// their stead), v, the reference's velocity less v, R row by row, cos and sin of the yaw, and the past actions,
// youngest first. past [Past][B][4] has the eldest first.
type View struct {
	PreviewPoints, Place, Past int
	State, Width               int
}

// Numbers of a row of an observation after those of the place, and of a reference row after the positions.
const (
	vVelocity  = 0 // v_W, then v_ref − v
	vAttitude  = 6 // R_WB, row by row
	vYaw       = 15
	nView      = 17 // before the actions
	nReference = 5
)

func (v *View) check(B, s, past, x int, seen bool) {
	if v.State < nM || B > 0 && !seen && v.Place != 3*v.PreviewPoints {
		panic("quadrotor: a view of what is not there")
	}
	if s < B*v.State || past < v.Past*B*nA || x < B*v.Width || v.Place+nView+v.Past*nA > v.Width {
		panic("quadrotor: a slice shorter than a view's rows")
	}
}

// Observe writes x[B][Width] from s[B][State], ref[B][…] and past. seen[B][Place] may be nil, and Place is then
// 3·PreviewPoints.
func Observe[F kernel.Float](v *View, B int, s, ref, seen, past, x []F) {
	v.check(B, len(s), len(past), len(x), seen != nil)
	R := 3*v.PreviewPoints + nReference
	ref, seen = kernel.Need(ref, B*R), kernel.Maybe(seen, B*v.Place)
	if native[F]() {
		observeC(v, B, kernel.Float32s(s), kernel.Float32s(ref), kernel.Float32s(seen), kernel.Float32s(past),
			kernel.Float32s(x))
		return
	}
	for b := range B {
		s, r, y := s[b*v.State:][:nM], ref[b*R:][:R], x[b*v.Width:][:v.Width]
		if seen != nil {
			copy(y, seen[b*v.Place:][:v.Place])
		} else {
			for i := range v.Place {
				y[i] = r[i] - s[iP+i%3]
			}
		}
		y, r = y[v.Place:], r[3*v.PreviewPoints:]
		for j := range 3 {
			y[vVelocity+j], y[vVelocity+3+j] = s[iV+j], r[j]-s[iV+j]
		}
		quatAt(s).matrix(y[vAttitude:])
		copy(y[vYaw:nView], r[3:])
		for k := range v.Past {
			copy(y[nView+nA*k:][:nA], past[((v.Past-1-k)*B+b)*nA:])
		}
	}
}

// ObserveVJP adds the pullback of dx[B][Width] to ds[B][State], to dseen where there is one, and to dpast.
func ObserveVJP[F kernel.Float](v *View, B int, s, dx, ds, dseen, dpast []F) {
	v.check(B, min(len(s), len(ds)), len(dpast), len(dx), dseen != nil)
	dseen = kernel.Maybe(dseen, B*v.Place)
	if native[F]() {
		observeVJPC(v, B, kernel.Float32s(s), kernel.Float32s(dx), kernel.Float32s(ds), kernel.Float32s(dseen),
			kernel.Float32s(dpast))
		return
	}
	for b := range B {
		g, y := ds[b*v.State:][:nM], dx[b*v.Width:][:v.Width]
		for i, d := range y[:v.Place] {
			if dseen != nil {
				dseen[b*v.Place+i] += d
			} else {
				g[iP+i%3] -= d
			}
		}
		y = y[v.Place:]
		for j := range 3 {
			g[iV+j] += y[vVelocity+j] - y[vVelocity+3+j]
		}
		RotationVJP(s[b*v.State+iQ:], y[vAttitude:], g[iQ:])
		for k := range v.Past {
			row := dpast[((v.Past-1-k)*B+b)*nA:][:nA]
			for j := range row {
				row[j] += y[nView+nA*k+j]
			}
		}
	}
}

// Rotation writes R(q) [9] row by row, for q_WB (w, x, y, z).
func Rotation[F kernel.Float](q, r []F) { quat[F]{q[0], q[1], q[2], q[3]}.matrix(r) }

// RotationVJP adds the pullback of dr [9] through Rotation to dq.
func RotationVJP[F kernel.Float](q, dr, dq []F) {
	var d quat[F]
	quat[F]{q[0], q[1], q[2], q[3]}.matrixVJP(dr, &d)
	d.addTo(dq)
}
