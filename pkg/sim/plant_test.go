package sim

import (
	"errors"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// marching is a plant that goes one way at the speed of the command's thrust.
type marching struct {
	at       quad.State
	commands []quad.Command
	winds    []so3.Vec3
	ends     error
}

func (m *marching) Close() error                             { return nil }
func (m *marching) Reset(s quad.State, _ quad.Command) error { m.at = s; return nil }

func (m *marching) Follow(c quad.Command, wind so3.Vec3, h float64) (quad.State, so3.Vec3, error) {
	m.commands, m.winds = append(m.commands, c), append(m.winds, wind)
	m.at.V = so3.Vec3{X: c.Thrust}
	m.at.P = m.at.P.Add(m.at.V.Scale(h))
	return m.at, so3.Vec3{Z: 7}, m.ends
}

// The vehicle is where the plant is after each plantStep, not before; it gets the commands that the link lets through,
// and the world's wind.
func TestPlantMovesTheVehicle(t *testing.T) {
	w := Default()
	w.Link.Delay = 0
	w.Conditions.Name, w.Conditions.WindY = []string{"north"}, []float64{2}
	s, err := New(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := &marching{}
	s.Fit(m)
	s.Reset(quad.State{P: so3.Vec3{Z: 2}, Q: so3.Identity()}, 1)
	s.Step(quad.Command{Thrust: 3}, 0.004)
	if got := s.State().P.X; got != 0 {
		t.Errorf("%v m after 4 ms of 5", got)
	}
	s.Step(quad.Command{Thrust: 4}, 0.006)
	if got, want := s.State().P, (so3.Vec3{X: 0.035, Z: 2}); got.Sub(want).Norm() > 1e-12 || s.Truth().Rates.Z != 7 {
		t.Errorf("%v after 10 ms, expected %v", got, want)
	}
	if len(m.commands) != 2 || m.commands[1].Thrust != 4 || m.winds[0] != (so3.Vec3{Y: 2}) {
		t.Errorf("asked with %v, in %v", m.commands, m.winds)
	}
	m.ends = errors.New("gone")
	s.Step(quad.Command{}, 0.01)
	if s.Crash() != "the software that flies it stopped after 0.01 s: gone" {
		t.Error(s.Crash())
	}
	s.Fit(nil)
	s.Reset(quad.State{P: so3.Vec3{Z: 2}, Q: so3.Identity()}, 1)
	s.Step(quad.Command{Thrust: quad.Gravity}, 0.01)
	if s.Crashed() || len(m.commands) != 3 {
		t.Error("a plant that was taken away flies on")
	}
}
