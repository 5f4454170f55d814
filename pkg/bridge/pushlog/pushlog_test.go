package pushlog

import (
	"math"
	"slices"
	"strings"
	"testing"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/pushlog/pushlogtest"
	"vnd/pkg/robot/pusher"
)

// heavy takes 15 N to push.
var heavy = pusher.Robot{Dt: 0.02, Mass: 1.7, Friction: 0.9}

func stream() Stream { return Stream{Dt: 0.02, Least: 60} }

// TestBagShowsTheBox: its rows are those of the box that was pushed, step by step.
func TestBagShowsTheBox(t *testing.T) {
	all := pushlogtest.Pushes(heavy, 3, 150)
	pushes, warnings, err := Read(pushlogtest.Bag(t, all, "/push_step"), "", stream())
	if err != nil || len(warnings) > 0 || len(pushes) != 3 || len(pushes[1]) != 149 {
		t.Fatalf("%d pushes, %q, %v", len(pushes), warnings, err)
	}
	for _, rows := range pushes {
		box, err := pusher.Identify(rows, heavy.Dt, heavy.Mass)
		if err != nil || math.Abs(box.Friction-heavy.Friction) > 0.05 {
			t.Errorf("found %+v, %v", box, err)
		}
	}
	a, b := &pushes[0][70], &pushes[0][71]
	if d := b.State.Box[0] - a.State.Box[0]; math.Abs(b.State.BoxVelocity[0]-d/0.02) > 1e-9 || d == 0 ||
		math.Abs(b.T-a.T-0.02) > 1e-9 || pushes[1][0].T != 0 {
		t.Errorf("%+v, then %+v", a, b)
	}
}

// TestStretches: a fault, a lost tick, another push and numbers that are none end them; short ones are left out.
func TestStretches(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(all []*msgs.PushStep) []*msgs.PushStep
		want   []int // rows of each stretch
	}{
		{"as it was", func(all []*msgs.PushStep) []*msgs.PushStep { return all }, []int{99, 99}},
		{"a fault", func(all []*msgs.PushStep) []*msgs.PushStep {
			all[80].Fault = "the box jumped"
			return slices.Delete(all, 81, 100)
		}, []int{79, 99}},
		{"a lost tick", func(all []*msgs.PushStep) []*msgs.PushStep { return slices.Delete(all, 70, 71) },
			[]int{69, 99}},
		{"another goal meanwhile", func(all []*msgs.PushStep) []*msgs.PushStep {
			for _, m := range all[130:] {
				m.Push++
			}
			return all
		}, []int{99, 69}},
		{"no number", func(all []*msgs.PushStep) []*msgs.PushStep {
			all[170].Box[2] = math.NaN()
			return all
		}, []int{99, 69}},
		{"it goes on", func(all []*msgs.PushStep) []*msgs.PushStep { return all[:190] }, []int{99, 89}},
	} {
		s := stream()
		var got []int
		var m msgs.PushStep // one for all, as a subscription has it
		for _, next := range c.change(pushlogtest.Pushes(heavy, 2, 100)) {
			m = *next
			x, err := s.Add(&m)
			if (err != nil) != (m.Box[2]*0 != 0) {
				t.Fatalf("%s: %v", c.name, err)
			}
			if len(x.Rows) > 0 {
				got = append(got, len(x.Rows))
				if x.Begin < pushlogtest.Begin {
					t.Errorf("%s: begins at %d", c.name, x.Begin)
				}
			}
		}
		if x := s.End(); len(x.Rows) > 0 {
			got = append(got, len(x.Rows))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: stretches of %d rows, expected %d", c.name, got, c.want)
		}
	}
}

// TestRefusedBags: in one line each.
func TestRefusedBags(t *testing.T) {
	slow := pushlogtest.Pushes(heavy, 1, 100)
	for k, m := range slow {
		m.Header.Stamp = bridge.Time(pushlogtest.Begin + int64(k)*33e6)
	}
	bad := pushlogtest.Pushes(heavy, 1, 100)
	for _, m := range bad {
		m.Tool[0] = math.Inf(1)
	}
	good := pushlogtest.Pushes(heavy, 1, 100)
	for want, c := range map[string]struct {
		dir, topic string
	}{
		"99 ticks are not 0.02 s after the one before, the newest 0.03": {pushlogtest.Bag(t, slow, "/push_step"), ""},
		"none of 100 messages can be used: box, tool or com":            {pushlogtest.Bag(t, bad, "/push_step"), ""},
		"2 topics of type vnd/msg/PushStep: /a, /b: expected w":         {pushlogtest.Bag(t, good, "/a", "/b"), ""},
		`there is no topic "c" of type vnd/msg/PushStep`:                {pushlogtest.Bag(t, good, "/a", "/b"), "c"},
		"there is no push of 60 ticks in a row":                         {pushlogtest.Bag(t, good[:50], "/a"), "a"},
	} {
		_, _, err := Read(c.dir, c.topic, stream())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}
