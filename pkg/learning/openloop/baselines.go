package openloop

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Prior predicts with the rigid body alone.
type Prior struct {
	Dt float64 // Δt of one step, s
}

// Predict implements Predictor.
func (p Prior) Predict(windows [][]quad.Row, future [][]quad.Command, out [][]quad.State) error {
	for i, w := range windows {
		s := w[Context].State
		for h, a := range future[i] {
			s = rigidStep(s, a, p.Dt)
			out[i][h] = s
		}
	}
	return nil
}

// RecentMean predicts with the rigid body and holds, as a constant, what it missed on average over the
// window: Δv per step, of which the position takes half a step's worth.
type RecentMean struct {
	Dt float64 // Δt of one step, s
}

// Predict implements Predictor.
func (p RecentMean) Predict(windows [][]quad.Row, future [][]quad.Command, out [][]quad.State) error {
	for i, w := range windows {
		var sum so3.Vec3
		for k := range Context {
			sum = sum.Add(velocityResidual(w[k:k+2], p.Dt))
		}
		r := sum.Scale(1.0 / Context)
		s := w[Context].State
		for h, a := range future[i] {
			s = push(rigidStep(s, a, p.Dt), r, p.Dt)
			out[i][h] = s
		}
	}
	return nil
}

// velocityResidual is by how much the rigid body misses the second of two rows' velocity, m/s.
func velocityResidual(rows []quad.Row, dt float64) so3.Vec3 {
	return rows[1].State.V.Sub(rigidStep(rows[0].State, rows[0].Command, dt).V)
}

// push adds a step's Δv and what it means for the position.
func push(s quad.State, dv so3.Vec3, dt float64) quad.State {
	s.P = s.P.Add(dv.Scale(dt / 2))
	s.V = s.V.Add(dv)
	return s
}

// Names of the baselines. A star marks those that see the commands through the identified actuator.
const (
	NamePrior          = "prior"
	NameRecentMean     = "recent_mean"
	NameLinRecentMean  = "lin+recent_mean"
	NamePriorStar      = "prior*"
	NameRecentMeanStar = "recent_mean*"
	NameRidgeStar      = "ridge*"
)

// Baselines returns the prior and the recent mean and, when there are development flights to fit on, the
// linear baselines and those behind the actuator identified on the same flights.
func Baselines(dt float64, dev []quad.Flight) ([]Entry, error) {
	baselines := []Entry{{NamePrior, Prior{dt}, nil}, {NameRecentMean, RecentMean{dt}, nil}}
	if len(dev) == 0 {
		return baselines, nil
	}
	lin, err := FitLinRecentMean(dt, dev)
	if err != nil {
		return nil, err
	}
	act, err := FitCommandFilter(dt, dev)
	if err != nil {
		return nil, err
	}
	ridge, err := FitRidge(dt, dev, act)
	if err != nil {
		return nil, err
	}
	return append(baselines,
		Entry{NameLinRecentMean, lin, nil},
		Entry{NamePriorStar, Prior{dt}, &act},
		Entry{NameRecentMeanStar, RecentMean{dt}, &act},
		Entry{NameRidgeStar, ridge, &act},
	), nil
}
