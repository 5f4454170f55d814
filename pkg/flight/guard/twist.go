package guard

import (
	"math"

	"vnd/pkg/core/so3"
)

// A mirrored frame shows in positions that go another way than velocities say. Along the whole way any mirror shows;
// along an axis of the world by itself one that fast flight along another axis would hide.
const (
	twistWindow = 10   // exhibits, 0.2 s
	twistSlack  = 0.04 // m
	twistShare  = 0.35 // of the way
	axisSlack   = 0.01 // m, along an axis
	axisNoise   = 4.0  // times the position's noise, beyond it
	axisCross   = 0.05 // of the whole way, which shows along an axis where frames are turned a little
	axisLag     = 0.02 // s by which velocities may lag
)

// twisted reports whether velocities contradict positions, and since when.
func (d *detector) twisted() (since float64, found bool) {
	if d.n <= twistWindow {
		return 0, false
	}
	first := d.at(twistWindow)
	var x, y, z axisTwist
	way, length := so3.Vec3{}, 0.0
	for i := twistWindow - 1; i >= 0; i-- { // from the oldest
		a, b := d.at(i), d.at(i+1)
		mean := a.v.Add(b.v).Scale((a.at - b.at) / 2)
		way, length = way.Add(mean), length+mean.Norm()
		off := a.p.Sub(first.p).Sub(way)
		x.add(off.X, mean.X, a.v.X-first.v.X)
		y.add(off.Y, mean.Y, a.v.Y-first.v.Y)
		z.add(off.Z, mean.Z, a.v.Z-first.v.Z)
	}
	off := d.at(0).p.Sub(first.p).Sub(way).Norm()
	other := axisSlack + axisNoise*d.noise.position() + axisCross*length
	return first.at, off > twistSlack+twistShare*length || x.twisted(other) || y.twisted(other) || z.twisted(other)
}

// axisTwist is how positions go along an axis beside what velocities say.
type axisTwist struct {
	off    span    // positions beside the way of velocities, m
	speed  span    // velocities beside the first, m/s
	length float64 // of the way, m
}

// span is from the least to the greatest of numbers, zero among them.
type span struct{ least, most float64 }

func (s *span) add(x float64) { s.least, s.most = min(s.least, x), max(s.most, x) }

func (s *span) width() float64 { return s.most - s.least }

func (a *axisTwist) add(off, way, speed float64) {
	a.off.add(off)
	a.speed.add(speed)
	a.length += math.Abs(way)
}

// twisted reports whether more is off than a lag, a gain or a frame turned a little make of a way of a length, m.
func (a *axisTwist) twisted(slack float64) bool {
	return a.off.width() > slack+twistShare*a.length+axisLag*a.speed.width()
}
