package main

import (
	"fmt"
	"math"

	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/sim/pushing"
	"vnd/pkg/viz/plot"
)

// film has methods push a heavy and rough box to the same goal, side by side.
func film(t pushlearning.Task, results []pushing.Result) (names []string, frames [][][]plot.Shape, err error) {
	const every, hold = 3, 15 // steps from frame to frame; frames that the end stays
	heavy := pushing.Condition{Mass: 2, Friction: 1.1}
	var all [][]pusher.State
	longest := 0
	for _, r := range results {
		way, err := pushing.Ways(&r.Method, t, []pushing.Condition{heavy}, start, goal)
		if err != nil {
			return nil, nil, err
		}
		names = append(names, fmt.Sprintf("%s: %g kg, friction %g", r.Name, heavy.Mass, heavy.Friction))
		all, longest = append(all, way[0]), max(longest, len(way[0]))
	}
	aim := box(goal)
	aim.X, aim.Y, aim.Width, aim.Color = append(aim.X, aim.X[0]), append(aim.Y, aim.Y[0]), 0.004, 2
	for k := 0; k < longest+every*hold; k += every {
		var panels [][]plot.Shape
		for _, way := range all {
			s := way[min(k, len(way)-1)]
			panels = append(panels, []plot.Shape{box(s.Box), aim, tool(s.Tool)})
		}
		frames = append(frames, panels)
	}
	return names, frames, nil
}

// box is the outline of one at a place with a heading.
func box(at [3]float64) (s plot.Shape) {
	sin, cos := math.Sincos(at[2])
	for _, c := range [][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		x, y := c[0]*pusher.Side/2, c[1]*pusher.Side/2
		s.X, s.Y = append(s.X, at[0]+cos*x-sin*y), append(s.Y, at[1]+sin*x+cos*y)
	}
	return s
}

// tool is the outline of the tool.
func tool(at [2]float64) plot.Shape {
	s := plot.Shape{Color: 3}
	for k := range 16 {
		sin, cos := math.Sincos(float64(k) * math.Pi / 8)
		s.X, s.Y = append(s.X, at[0]+pusher.ToolRadius*cos), append(s.Y, at[1]+pusher.ToolRadius*sin)
	}
	return s
}
