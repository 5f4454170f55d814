package main

import (
	"context"
	"fmt"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

const latent = 2 // size

// improve trains a policy in a world, from scratch or from another, which is left as it is.
func improve(ctx context.Context, w train.World[float32], from *vnd.Actor[float32]) (*vnd.Actor[float32], error) {
	var cfg train.Config
	param.Default(&cfg)
	cfg.Horizon, cfg.Epochs, cfg.SwitchShare, cfg.Flights = 60, 200, 0, 0
	p, err := vnd.NewActor(task.Size(), latent, rest, torque, []int{32, 32})
	if err != nil {
		return nil, err
	}
	if from != nil {
		copy(p.Net.Params, from.Net.Params)
		p.Norm = from.Norm
	}
	_, err = train.Run(ctx, cfg, w, prior.Dt, train.Options{Seed: 1, Task: task, Actor: p, New: from == nil})
	return p, err
}

// judge asks the gate whether a candidate may follow the policy it was made of, and prints the answer.
func judge(ctx context.Context, candidate *bundle.Bundle, before *vnd.Actor[float32]) error {
	m, _, err := vnd.FromBundle(candidate, vehicle.Robot)
	if err != nil {
		return err
	}
	current, err := vnd.Pack(m, prior, before, goal)
	if err != nil {
		return err
	}
	g := &gate.Gate{Vehicle: vehicle, Judge: judged, Seed: 1}
	param.Default(&g.Config)
	g.Config.Shadow.Seconds, g.Config.Rate = steps*prior.Dt, 100
	v, err := g.Evaluate(ctx, candidate, current, nil)
	if err != nil {
		return err
	}
	if !v.Pass {
		return fmt.Errorf("refused: %q", v.Reasons())
	}
	last := v.Stages[len(v.Stages)-1]
	fmt.Printf("conditions not learned: off by %.4f rad, the prior's policy by %.4f rad; promoted\n",
		last.Candidate.Error, last.Current.Error)
	return nil
}
