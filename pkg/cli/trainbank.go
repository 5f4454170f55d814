package cli

import (
	"errors"
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/rotorfit"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
)

// bank encodes the latents of flights, and makes the latent prior of them.
func (t *trainCommand) bank(c *console, s *trainer) (bank []float32, err error) {
	if len(t.Flights) == 0 {
		return nil, nil
	}
	if s.model == nil {
		return nil, errors.New("--flights: latents of flights take a model, expected --bundle with one")
	}
	if s.motors != nil {
		bank, err = t.rotorLatents(s)
	} else {
		bank, err = t.latents(c, s)
	}
	if err != nil {
		return nil, err
	}
	z := s.model.Net.Latent
	if len(bank) == 0 {
		return nil, fmt.Errorf("--flights: no stretch of %d rows in them", s.model.Net.Context+1)
	}
	s.model.LatentPrior = vnd.NewLatentPrior(bank, z)
	c.log.Info().Msgf("%d latents of the flights", len(bank)/z)
	return bank, nil
}

// latents are those of every tenth row of flights by thrust and body rates.
func (t *trainCommand) latents(c *console, s *trainer) ([]float32, error) {
	m, q, err := vnd.FromBundle(s.bundle, quadrotor.Reader)
	if err != nil {
		return nil, err
	}
	o, err := recordings{dt: q.Dt, window: m.Net.Context, airframe: t.Airframe}.options()
	if err != nil {
		return nil, err
	}
	flights, err := c.read(t.Flights, o)
	if err != nil {
		return nil, err
	}
	var segments [][]quad.Row
	for _, f := range flights {
		segments = append(segments, f.Segments...)
	}
	return vnd.Latents(m, q, segments, 10), nil
}

// rotorLatents are those of every tenth row of flights by motors.
func (t *trainCommand) rotorLatents(s *trainer) ([]float32, error) {
	_, r, err := vnd.FromBundle(s.bundle, rotors.Reader)
	if err != nil {
		return nil, err
	}
	flights, err := rotorfit.ReadAll(t.Flights)
	if err != nil {
		return nil, err
	}
	var segments [][]rotors.Row
	for _, f := range flights {
		if err := rotorfit.Fits(&r.Model.Config, f); err != nil {
			return nil, err
		}
		segments = append(segments, f.Rows()...)
	}
	return vnd.Latents(s.model, r, segments, 10), nil
}
