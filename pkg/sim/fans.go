package sim

import (
	"fmt"
	"math"

	"vnd/pkg/core/so3"
)

// Fans blow jets: free round turbulent jets with the profile of a Gaussian, as Pope, "Turbulent Flows", 5.1 measures
// them. Each list has one element per fan.
type Fans struct {
	X         []float64 `param:"x" default:"" unit:"m" doc:"places of the outlets in the world"`
	Y         []float64 `param:"y" default:"" unit:"m" doc:"places of the outlets in the world"`
	Z         []float64 `param:"z" default:"" unit:"m" doc:"places of the outlets in the world"`
	Heading   []float64 `param:"heading" default:"" min:"-3.15" max:"3.15" unit:"rad" doc:"directions of the jets, from x to y of the world"`
	Elevation []float64 `param:"elevation" default:"" min:"-1.571" max:"1.571" unit:"rad" doc:"directions of the jets above the horizon"`
	Speed     []float64 `param:"speed" default:"" min:"0" max:"60" unit:"m/s" doc:"speed of the air at the fans' outlets"`
	Diameter  []float64 `param:"diameter" default:"" min:"0.01" max:"20" unit:"m" doc:"diameter of the fans' outlets"`
}

func (f *Fans) check() error {
	n := len(f.X)
	for _, l := range []struct {
		name string
		list []float64
	}{{"y", f.Y}, {"z", f.Z}, {"heading", f.Heading}, {"elevation", f.Elevation}, {"speed", f.Speed},
		{"diameter", f.Diameter}} {
		if len(l.list) != n {
			text := fmt.Sprintf("fans.%s has %d elements, expected one for each of the %d of fans.x", l.name,
				len(l.list), n)
			return &fault{[]string{"fans." + l.name, "fans.x"}, text}
		}
	}
	return nil
}

// checkFan refuses conditions in which a fan blows that there is not.
func (w *World) checkFan() error {
	for i, n := range w.Conditions.Fan {
		if have := len(w.Fans.X); n > have {
			return faulty("conditions.fan", "element %d is %d, expected one of the %d of fans.x, counted from 1, "+
				"or 0 for all", i, n, have)
		}
	}
	return nil
}

const (
	jetDecay  = 6.0   // speed on the axis: outlet's × min(1, 6·d/x)
	jetSpread = 0.094 // half width over distance, far from the outlet
)

// jet is one fan.
type jet struct {
	at, along       so3.Vec3 // outlet in the world, m; unit vector
	speed, diameter float64  // m/s, m
}

type fans []jet

func newFans(p *Fans) fans {
	f := make(fans, len(p.X))
	for i := range f {
		se, ce := math.Sincos(p.Elevation[i])
		sh, ch := math.Sincos(p.Heading[i])
		f[i] = jet{
			so3.Vec3{X: p.X[i], Y: p.Y[i], Z: p.Z[i]}, so3.Vec3{X: ce * ch, Y: ce * sh, Z: se},
			p.Speed[i], p.Diameter[i],
		}
	}
	return f
}

// at returns the velocity of the air at a place of the world, m/s, where one fan blows alone (counted from 1), or
// with 0 all of them do.
func (f fans) at(p so3.Vec3, only int) (air so3.Vec3) {
	if only > 0 {
		f = f[only-1 : only]
	}
	for i := range f {
		air = air.Add(f[i].along.Scale(f[i].speedAt(p)))
	}
	return air
}

// speedAt returns the speed along the jet: behind the outlet nothing, before it a Gaussian around the axis whose half
// width grows from the outlet's radius.
func (j *jet) speedAt(p so3.Vec3) float64 {
	d := p.Sub(j.at)
	x := d.Dot(j.along)
	if x <= 0 {
		return 0
	}
	half := max(j.diameter/2, jetSpread*x)
	r2 := (d.Dot(d) - x*x) / (half * half)
	if r2 > 40 { // less than 1e-12 of the axis
		return 0
	}
	return j.speed * min(1, jetDecay*j.diameter/x) * math.Exp(-math.Ln2*r2)
}
