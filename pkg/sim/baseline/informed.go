package baseline

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/train/quadtrain"
)

// Informed flies a policy of quadtrain.Informed, which is told a wind.
type Informed struct {
	*policy.Runner
	spread float64
}

// NewInformed makes one of a policy that was trained under winds of a spread (m/s²) at steps of dt seconds.
func NewInformed(p *policy.Policy[float32], spread, dt float64, reference func(t float64) quad.Reference) (*Informed,
	error) {
	if want := quadtrain.WindSize; p.Latent != want {
		return nil, fmt.Errorf("the policy has room for %d numbers, the wind has %d", p.Latent, want)
	}
	return &Informed{policy.NewRunner(p, dt, reference), spread}, nil
}

// SetWind is told the wind of now, an acceleration in the world, m/s², for the commands that follow.
func (o *Informed) SetWind(wind so3.Vec3) {
	z := quadtrain.TrueWind[float32](wind, o.spread)
	o.SetLatent(z[:])
}
