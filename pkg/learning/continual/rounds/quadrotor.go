package rounds

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"slices"

	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/task"
	"vnd/pkg/vnd/bundle"
)

// Options of rounds of a quadrotor beside its Config.
type Options struct {
	Common
	Tasks   []*task.Task
	Task    string // their names
	Vehicle quadgate.Vehicle
	Judge   gate.Judge // nil: the gate flies in the learned model alone
}

// Quadrotor runs rounds of one.
type Quadrotor struct {
	*Runner[dataset.Segment]
	flights *flights
}

// Open opens the bundles on disk. cfg gives the present configuration.
func Open(cfg func() *Config, opt Options) (*Quadrotor, error) {
	flown := newFlights(opt.Dt)
	r := Robot[dataset.Segment]{Name: opt.Vehicle.Robot,
		Begin: func(start *bundle.Bundle, seed uint64, report func(continual.Status)) (Learner[dataset.Segment],
			error) {
			return continual.New(cfg().Config, start, continual.Options{Tasks: opt.Tasks, Task: opt.Task,
				Vehicle: opt.Vehicle, Judge: opt.Judge, Flown: flown.by, Seed: seed, Status: report, Now: opt.Now})
		},
		Gate: func() *gate.Gate {
			return &gate.Gate{Config: cfg().Gate, Vehicle: opt.Vehicle.Flying(opt.Tasks), Judge: opt.Judge,
				Seed: opt.Seed}
		}}
	l, err := New(func() Settings { return cfg() }, opt.Common, r)
	if err != nil {
		return nil, err
	}
	l.Supervise(func() *Supervision { return &cfg().Supervision })
	return &Quadrotor{l, flown}, nil
}

// Tick is that of a Runner, and keeps what was flown for the gate.
func (l *Quadrotor) Tick(t ControllerTick) bool {
	l.flights.add(&t)
	return l.Runner.Tick(t)
}

// Segment takes a segment that was announced. What is wrong with it goes to the log.
func (l *Quadrotor) Segment(ctx context.Context, f dataset.SegmentFile) error {
	return l.do(ctx, func() { l.read(&f) })
}

// read adds an announced segment.
func (l *Quadrotor) read(a *dataset.SegmentFile) {
	path := filepath.Join(a.Dir, a.File)
	if slices.ContainsFunc(l.segments, func(s held[dataset.Segment]) bool { return s.path == path }) {
		return // the buffer gave some of its rows up; here they stay
	}
	segment, loss, err := a.Read(l.opt.Dt)
	if err != nil {
		l.log(true, "refused: "+err.Error())
		return
	}
	if loss != nil {
		l.log(true, "damaged: segment "+filepath.Join(a.Dir, loss.String()))
	}
	if a.Robot != "" { // flights are named by their beginning, and robots may begin at once
		segment.Flight = a.Robot + " " + segment.Flight
	}
	l.take(held[dataset.Segment]{path, hex.EncodeToString(a.SHA256[:]), len(segment.Rows), segment})
}
