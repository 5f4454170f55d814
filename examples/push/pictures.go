package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/sim/pushing"
	"vnd/pkg/viz/plot"
)

// Each push that is drawn begins and ends at the same places.
var start, goal = pusher.State{Tool: [2]float64{-0.14, -0.05}}, [3]float64{0.2, 0.1, 0.2}

// draw writes pictures into a folder: success of each method, and the ways of some boxes under the second one.
func draw(dir string, t pushlearning.Task, results []pushing.Result) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, "push_success.png"), func(w io.Writer) error {
		return plot.Bars(w, "success by the force that a box takes, %", pushing.Ranges(), successes(results))
	}); err != nil {
		return err
	}
	ways, err := ways(t, results[1].Method)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, "push_ways.png"), func(w io.Writer) error {
		return plot.Flights(w, "boxes on their way to a goal", []so3.Vec3{{}, {X: goal[0], Y: goal[1]}}, ways, nil)
	}); err != nil {
		return err
	}
	names, frames, err := film(t, results[:2])
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(dir, "push.gif"), func(w io.Writer) error {
		return plot.Animate(w, names, 0.35, 6, frames)
	})
}

// successes are the shares of trials over hidden conditions, by force.
func successes(results []pushing.Result) (series []plot.Series) {
	bounds := pushing.Forces
	for _, r := range results {
		s := plot.Series{Name: r.Name}
		for i, lo := range bounds[:len(bounds)-1] {
			share, _ := pushing.Share(r.Hidden, lo, bounds[i+1])
			s.Values = append(s.Values, 100*share)
		}
		series = append(series, s)
	}
	return series
}

// ways are those of boxes from light and slippery to heavy and rough.
func ways(t pushlearning.Task, m pushing.Method) (out []plot.Flown, err error) {
	conditions := []pushing.Condition{{Mass: 0.3, Friction: 0.3}, pushing.Nominal, {Mass: 1.5, Friction: 0.8},
		{Mass: 2, Friction: 1.1}}
	all, err := pushing.Ways(&m, t, conditions, start, goal)
	for i, way := range all {
		f := plot.Flown{Name: fmt.Sprintf("%g kg, friction %g", conditions[i].Mass, conditions[i].Friction)}
		for k, s := range way {
			f.T = append(f.T, pushing.Dt*float64(k))
			f.P = append(f.P, so3.Vec3{X: s.Box[0], Y: s.Box[1]})
			f.Error = append(f.Error, math.Hypot(s.Box[0]-goal[0], s.Box[1]-goal[1]))
		}
		out = append(out, f)
	}
	return out, err
}
