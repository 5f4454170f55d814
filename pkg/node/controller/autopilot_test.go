package controller

import (
	"testing"
	"time"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/ros2/ros"
)

// An autopilot stands notFollowed as long as it says so itself: where mavros has lost it in flight, or nothing is heard
// any more, nobody knows, and the guard is as strict as in flight.
func TestAutopilotThatDoesNotFollow(t *testing.T) {
	posctl := mavrosmsgs.State{Connected: true, Armed: true, Mode: "POSCTL"}
	offboard := mavrosmsgs.State{Connected: true, Armed: true, Mode: mavrosmsgs.StateModePx4Offboard}
	for _, c := range []struct {
		name        string
		m           mavrosmsgs.State
		notFollowed bool
	}{
		{"a pilot flies", posctl, true},
		{"it follows", offboard, false},
		{"it stands, in offboard mode", mavrosmsgs.State{Connected: true, Mode: offboard.Mode}, true},
		{"the connection is lost in flight", mavrosmsgs.State{}, false}, // as mavros says it
	} {
		s := reports{clock: ros.NewClock(ros.SystemTime)}
		if _, age := s.lastReport(); s.notOffboard() || age != forever {
			t.Fatalf("%s: before a report: not offboard %v, %v old", c.name, s.notOffboard(), age)
		}
		s.addReport(bridge.FromMavrosState(&c.m))
		if s.notOffboard() != c.notFollowed {
			t.Errorf("%s: not offboard is %v", c.name, s.notOffboard())
		}
	}
	s := reports{clock: ros.NewClock(ros.SystemTime)}
	old := func(onMachine, onNode time.Duration) {
		s.last.Store(&report{bridge.FromMavrosState(&posctl), time.Now().Add(-onMachine),
			ros.Time(time.Now().Add(-onNode).UnixNano())})
	}
	if old(silence+time.Second, silence+time.Second); s.notOffboard() {
		t.Error("a pilot flew, and nothing was heard for longer than silence: notFollowed")
	}
	if _, age := s.lastReport(); age < silence {
		t.Errorf("the word is %v old", age)
	}
	if old(time.Hour, 0); !s.notOffboard() {
		t.Error("simulated time is slower than the machine's: not notFollowed")
	}
	if old(0, time.Hour); !s.notOffboard() {
		t.Error("the node's clock leaps: not notFollowed")
	}
	if old(0, -time.Hour); !s.notOffboard() {
		t.Error("the node's clock was set back: not notFollowed")
	}
	if s.addReport(bridge.FromMavrosState(&offboard)); s.notOffboard() {
		t.Error("it follows: notFollowed")
	}
}
