package scene

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Plane is the plane in which the latents of a bundle lie widest: their mean and first two principal components.
type Plane struct {
	Bundle int // place of the bundle
	Mean   []float64
	Axes   [2][]float64
	Share  [2]float64 // of the variance
	Scale  float64    // standard deviation along the first axis; 1 where that is 0
}

// Project is where a latent lies, in units of Scale.
func (p *Plane) Project(z []float32) (x, y float64) {
	for i, m := range p.Mean {
		d := float64(z[i]) - m
		x, y = x+d*p.Axes[0][i], y+d*p.Axes[1][i]
	}
	return x / p.Scale, y / p.Scale
}

const (
	planeEvery = 10 // rows of which one counts
	planeLeast = 20 // rows
)

// UpdatePlane finds the plane of the bundle that flies anew. It takes longer than anything else here: once a second is
// often enough.
func (s *Scene) UpdatePlane() {
	s.mu.Lock()
	last := s.rows.last()
	if last == nil || last.Z < 2 || last.Bundle < 0 {
		s.mu.Unlock()
		return
	}
	bundle, z := last.Bundle, last.Z
	var data []float64
	for k := s.rows.oldest(); k <= s.rows.count; k++ {
		if r := s.rows.at(k); k%planeEvery == 0 && r.Bundle == bundle && r.Z == z && finite(r.Latent[:z]) {
			for _, v := range r.Latent[:z] {
				data = append(data, float64(v))
			}
		}
	}
	before, epoch := s.plane, s.epoch
	s.mu.Unlock()
	if len(data) < planeLeast*z {
		return
	}
	p := principal(data, z)
	if p == nil {
		return
	}
	p.Bundle = bundle
	if before != nil && before.Bundle == bundle {
		p.align(before)
	}
	s.mu.Lock()
	if epoch == s.epoch {
		s.plane = p
	}
	s.mu.Unlock()
}

func finite(z []float32) bool {
	for _, v := range z {
		if v*0 != 0 {
			return false
		}
	}
	return true
}

// principal finds the plane of rows of z numbers; nil where there is none.
func principal(data []float64, z int) *Plane {
	x := mat.NewDense(len(data)/z, z, data)
	var pc stat.PC
	if !pc.PrincipalComponents(x, nil) {
		return nil
	}
	var vectors mat.Dense
	pc.VectorsTo(&vectors)
	if _, n := vectors.Dims(); n < 2 {
		return nil
	}
	p := &Plane{Scale: 1}
	for j := range z {
		p.Mean = append(p.Mean, stat.Mean(mat.Col(nil, j, x), nil))
	}
	vars, sum := pc.VarsTo(nil), 0.0
	for _, v := range vars {
		sum += v
	}
	for i := range p.Axes {
		p.Axes[i] = mat.Col(nil, i, &vectors)
		if sum > 0 {
			p.Share[i] = vars[i] / sum
		}
	}
	if sd := math.Sqrt(vars[0]); sd > 0 {
		p.Scale = sd
	}
	return p
}

// align turns the axes so that the picture does not flip from one survey to the next.
func (p *Plane) align(before *Plane) {
	for i := range p.Axes {
		dot := 0.0
		for j, v := range p.Axes[i] {
			dot += v * before.Axes[i][j]
		}
		if dot < 0 {
			for j := range p.Axes[i] {
				p.Axes[i][j] = -p.Axes[i][j]
			}
		}
	}
}
