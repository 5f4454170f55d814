package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestDelay: a command acts after the delay, to the step, at any control rate; a lost one never.
func TestDelay(t *testing.T) {
	for _, dt := range []float64{.001, .005, .02} {
		for _, delay := range []float64{0, .001, .01, .037} {
			w := ideal()
			w.Link.Delay = delay
			s := mustNew(t, w)
			hover := quad.Command{Thrust: gravity}
			for s.Time() < .1-1e-9 {
				s.Step(hover, dt)
			}
			sent := s.Time()
			for s.command.Thrust == gravity {
				s.Step(quad.Command{Thrust: 12}, .001)
			}
			// The step in which it acts has just ended.
			if got := s.Time() - .001 - sent; math.Abs(got-delay) > 1e-9 {
				t.Errorf("at steps of %v s a delay of %v s is %v s", dt, delay, got)
			}
		}
	}
}

func TestLostCommand(t *testing.T) {
	s := mustNew(t, ideal())
	s.Step(quad.Command{Thrust: 11}, .02)
	for _, c := range []quad.Command{{Thrust: math.NaN()}, {Thrust: math.Inf(1)},
		{Thrust: 9, Rates: so3.Vec3{Y: math.NaN()}}} {
		s.Step(c, .02)
		if s.command != (quad.Command{Thrust: 11}) {
			t.Errorf("%v makes the autopilot follow %v, expected the last good command", c, s.command)
		}
	}
	s.Step(quad.Command{Thrust: -3}, .02)
	if s.command.Thrust != 0 {
		t.Errorf("a negative thrust becomes %v", s.command.Thrust)
	}
}

// TestTime: any step of control keeps the time to half an integration step, without drift.
func TestTime(t *testing.T) {
	for _, dt := range []float64{.02, .01, 1. / 60, .0003, .0123} {
		s := mustNew(t, ideal())
		for range 1000 {
			s.Step(quad.Command{Thrust: gravity}, dt)
		}
		if gap := math.Abs(s.Time() - 1000*dt); gap > .0005+1e-9 {
			t.Errorf("1000 steps of %v s end at %v s", dt, s.Time())
		}
	}
}

// Commands that are under way when the delay grows arrive as they were to, those after it later, and none before an
// older one.
func TestConditionDelaysTheLink(t *testing.T) {
	w := ideal()
	w.Link.Delay = 0.01
	w.Conditions = Conditions{Name: []string{"before", "late"}, LinkDelay: []float64{0, 0.06}}
	w, err := w.Scheduled([]Switch{{0, "before"}, {0.1, "late"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := mustNew(t, w)
	const dt = 0.02
	var arrived [12]float64
	for k := range arrived {
		for range 20 {
			s.Step(quad.Command{Thrust: 10 + 0.1*float64(k)}, dt/20)
			for n := k; n >= 0 && arrived[n] == 0; n-- {
				if s.command.Thrust >= 10+0.1*float64(n)-1e-9 {
					arrived[n] = s.Time()
				}
			}
		}
	}
	for k, at := range arrived[:8] {
		want := dt*float64(k) + w.Link.Delay
		if k > 5 {
			want += 0.06
		}
		if k != 5 && math.Abs(at-want) > 0.003 {
			t.Errorf("command %d arrived after %.4f s, expected %.4f", k, at, want)
		}
	}
}
