package controller

import (
	"testing"
	"time"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/ros2/ros"
)

// An autopilot stands aside as long as it says so itself: where mavros has lost it in flight, or nothing is heard any
// more, nobody knows, and the guard is as strict as in flight.
func TestWhoStandsAside(t *testing.T) {
	posctl := mavrosmsgs.State{Connected: true, Armed: true, Mode: "POSCTL"}
	offboard := mavrosmsgs.State{Connected: true, Armed: true, Mode: mavrosmsgs.StateModePx4Offboard}
	for _, c := range []struct {
		name  string
		m     mavrosmsgs.State
		aside bool
	}{
		{"a pilot flies", posctl, true},
		{"it follows", offboard, false},
		{"it stands, in offboard mode", mavrosmsgs.State{Connected: true, Mode: offboard.Mode}, true},
		{"the connection is lost in flight", mavrosmsgs.State{}, false}, // as mavros says it
	} {
		s := said{clock: ros.NewClock(ros.SystemTime)}
		if _, age := s.heard(); s.aside() || age != forever {
			t.Fatalf("%s: before a word: aside %v, %v old", c.name, s.aside(), age)
		}
		s.hear(bridge.FromMavrosState(&c.m))
		if s.aside() != c.aside {
			t.Errorf("%s: aside is %v", c.name, s.aside())
		}
	}
	s := said{clock: ros.NewClock(ros.SystemTime)}
	old := func(onMachine, onNode time.Duration) {
		s.last.Store(&word{bridge.FromMavrosState(&posctl), time.Now().Add(-onMachine),
			ros.Time(time.Now().Add(-onNode).UnixNano())})
	}
	if old(silence+time.Second, silence+time.Second); s.aside() {
		t.Error("a pilot flew, and nothing was heard for longer than silence: aside")
	}
	if _, age := s.heard(); age < silence {
		t.Errorf("the word is %v old", age)
	}
	if old(time.Hour, 0); !s.aside() {
		t.Error("simulated time is slower than the machine's: not aside")
	}
	if old(0, time.Hour); !s.aside() {
		t.Error("the node's clock leaps: not aside")
	}
	if old(0, -time.Hour); !s.aside() {
		t.Error("the node's clock was set back: not aside")
	}
	if s.hear(bridge.FromMavrosState(&offboard)); s.aside() {
		t.Error("it follows: aside")
	}
}
