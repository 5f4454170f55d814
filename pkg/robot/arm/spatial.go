package arm

import "vnd/pkg/core/so3"

// spatial is a vector of six: of motion (angular velocity, and velocity of what passes the world's origin), or of force
// (moment about the world's origin, and force). See Featherstone, "Rigid Body Dynamics Algorithms", chapter 2.
type spatial struct{ ang, lin so3.Vec3 }

func (a spatial) add(b spatial) spatial { return spatial{a.ang.Add(b.ang), a.lin.Add(b.lin)} }

func (a spatial) sub(b spatial) spatial { return spatial{a.ang.Sub(b.ang), a.lin.Sub(b.lin)} }

func (a spatial) scale(k float64) spatial { return spatial{a.ang.Scale(k), a.lin.Scale(k)} }

// dot is the power of a force under a motion.
func (a spatial) dot(b spatial) float64 { return a.ang.Dot(b.ang) + a.lin.Dot(b.lin) }

// cross is a × b, the rate of a motion b that moves with a.
func (a spatial) cross(b spatial) spatial {
	return spatial{a.ang.Cross(b.ang), a.ang.Cross(b.lin).Add(a.lin.Cross(b.ang))}
}

// crossForce is a ×* f, the rate of a force f that moves with a. It is minus the transpose of cross.
func (a spatial) crossForce(f spatial) spatial {
	return spatial{a.ang.Cross(f.ang).Add(a.lin.Cross(f.lin)), a.ang.Cross(f.lin)}
}

// inertia is that of a body about the world's origin: mass, mass times centre, and second moment.
type inertia struct {
	mass   float64
	moment so3.Vec3
	second so3.Mat3
}

func (i *inertia) add(j *inertia) {
	i.mass += j.mass
	i.moment = i.moment.Add(j.moment)
	for r := range 3 {
		for c := range 3 {
			i.second[r][c] += j.second[r][c]
		}
	}
}

// times is the momentum of a motion.
func (i *inertia) times(v spatial) spatial {
	return spatial{i.second.MulVec(v.ang).Add(i.moment.Cross(v.lin)), v.lin.Scale(i.mass).Sub(i.moment.Cross(v.ang))}
}

// Body is a rigid body in the frame of a link.
type Body struct {
	Mass    float64  // kg
	At      so3.Vec3 // its centre of mass, m
	Inertia so3.Mat3 // about that, kg·m²
}

// in is the inertia in the world of a body whose frame is turned by r at p.
func (b *Body) in(r *so3.Mat3, p so3.Vec3) inertia {
	c := p.Add(r.MulVec(b.At))
	i := inertia{b.Mass, c.Scale(b.Mass), r.Mul(b.Inertia).Mul(r.T())}
	square := b.Mass * c.Dot(c)
	x, m := [3]float64{c.X, c.Y, c.Z}, [3]float64{i.moment.X, i.moment.Y, i.moment.Z}
	for row := range 3 {
		i.second[row][row] += square
		for col := range 3 {
			i.second[row][col] -= x[row] * m[col]
		}
	}
	return i
}
