package controller

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/lifecycle"
)

// A fault is shown for a while, and not beside every later one.
func TestFaultsAreForgotten(t *testing.T) {
	var g gauges
	if text := g.trouble.Load().recent(monotonic()); text != "" {
		t.Errorf("%q, and nothing came", text)
	}
	g.refuse(errors.New("wrong frame"))
	at := g.trouble.Load().at
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, "wrong frame"}, {shown, "wrong frame"}, {shown + 1, ""}, {time.Minute, ""}} {
		if text := g.trouble.Load().recent(at + int64(c.after)); text != c.want {
			t.Errorf("%v later: %q, expected %q", c.after, text, c.want)
		}
	}
}

// Every wrong frame is named, in the diagnostics and once in the log.
func TestEachWrongFrameIsNamed(t *testing.T) {
	h := newHarness(t, "-p", "world_frame:=map")
	h.change(lifecycle.Configure, lifecycle.Activate)
	for _, frame := range []string{"odom", "mocap"} {
		want := `a sample in frame "` + frame + `" is refused, expected "map"`
		h.samples(frame, so3.Quat{W: 1}, 3)
		h.says(diagnostics.Warn, want)
		h.logs(want)
	}
	h.samples("odom", so3.Quat{W: 1}, 3)
	h.change(lifecycle.Deactivate)
	h.c.Log().Info().Msg("that was all")
	for line := ""; line != "that was all"; {
		select {
		case line = <-h.lines:
			if strings.Contains(line, `"odom"`) {
				t.Errorf("logged again: %s", line)
			}
		case <-time.After(long):
			t.Fatal("no more lines")
		}
	}
}

func TestTimesAreExplained(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name       string
		quiet, age time.Duration
		want       string
	}{
		{"all is well", 20 * ms, 5 * ms, ""},
		{"a little early", 20 * ms, -99 * ms, ""},
		{"quiet", 2500 * ms, 5 * ms, "no sample for 2.5 s"},
		{"clock set back", -2500 * ms, 5 * ms, "no sample since this clock was set back by 2.5 s"},
		{"of the past", 20 * ms, time.Hour, "stamped 3600.000 s before this clock, expected at most 0.1 "},
		{"of the future", 20 * ms, -time.Hour, "stamped 3600.000 s after this clock, expected at most 0.1 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if text := explainTimes(c.quiet, c.age, 0.1); c.want == "" && text != "" ||
				!strings.HasPrefix(text, c.want) {
				t.Errorf("%q, expected %q", text, c.want)
			}
		})
	}
}

// Turns that come too soon or too late for clocks that agree are told.
func TestTurnsAreExplained(t *testing.T) {
	for late, want := range map[float64]string{0: "", 0.009: "", -0.009: "",
		0.03:  "by its stamps the robot turns 30 ms later than guard.response says, expected at most 10: ",
		-0.02: "by its stamps the robot turns 20 ms sooner than guard.response says, expected at most 10: "} {
		if text := explainTurns(late); want == "" && text != "" || !strings.HasPrefix(text, want) {
			t.Errorf("%+g s: %q, expected %q", late, text, want)
		}
	}
}

// Stamps of the future are told as such, where the guard flies for them, too.
func TestStampsOfTheFuture(t *testing.T) {
	h := ready(t)
	m := h.motion("mocap/pose", 0)
	h.flying()
	m.late(-time.Hour)
	h.says(diagnostics.Error, "topic /mocap/pose: stamped 3600.000 s after this clock")
	h.says(diagnostics.Error, "the guard flies: the state is stamped 3600.000 s after this clock (")
	m.late(time.Hour)
	h.says(diagnostics.Error, "the guard flies: the state is too old (")
}

// Samples without a stamp fly by the time at which they come, and that is complained of.
func TestSamplesWithoutStamp(t *testing.T) {
	h := newHarness(t, "-p", "bundle_file:="+path("a.vnd"))
	h.change(lifecycle.Configure, lifecycle.Activate)
	pub := must(ros.NewPublisher[geometrymsgs.PoseStamped](h.n, "mocap/pose", node.MocapQoS()))(t)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		var m geometrymsgs.PoseStamped
		for i := 0; ; i++ {
			at := so3.Vec3{X: 1e-5 * float64(i%97), Z: 1}
			bridge.PutPoseStamped(&m, 0, "map", quad.State{P: at, Q: so3.Identity()})
			if err := pub.Publish(&m); err != nil {
				t.Error(err)
			}
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	defer func() { close(stop); <-ended }()
	h.logs("topic /mocap/pose: the stamp is 0, so samples count as taken when they come")
	for deadline := time.After(long); ; {
		select {
		case s := <-h.status:
			if strings.Contains(s.Message, "topic /mocap/pose: the stamp is 0") {
				return
			}
		case <-deadline:
			t.Fatal("the diagnostics are silent")
		}
	}
}

// What a refused bundle leaves is said as it is.
func TestRefusedBundleWhereNoneFlies(t *testing.T) {
	h := newHarness(t)
	bundles := must(ros.NewPublisher[msgs.Bundle](h.n, "bundle", node.LatchedQoS()))(t)
	publish := func(name string, change func(*msgs.Bundle)) {
		t.Helper()
		if err := bundles.Publish(h.bundle(name, change)); err != nil {
			t.Fatal(err)
		}
	}
	spoil := func(m *msgs.Bundle) { m.ID = "other" }
	publish("a.vnd", spoil)
	h.change(lifecycle.Configure)
	h.logs("the message says \"other\"; there is no other one yet")
	publish("a.vnd", func(*msgs.Bundle) {})
	h.logs("for hover,track")
	publish("a.vnd", spoil)
	policy, _ := h.c.flying()
	h.logs("the message says \"other\"; " + policy.ID + " is there as before, and the controller is inactive")
	h.change(lifecycle.Activate)
	publish("a.vnd", spoil)
	h.logs("the message says \"other\"; the one before flies on")
}

// A bundle that comes by file and by topic is taken up once; another one of the topic is newer than that of the file.
func TestBundleByFileAndByTopic(t *testing.T) {
	h := newHarness(t, "-p", "bundle_file:="+path("a.vnd"))
	bundles := must(ros.NewPublisher[msgs.Bundle](h.n, "bundle", node.LatchedQoS()))(t)
	a, b := h.bundle("a.vnd", func(*msgs.Bundle) {}), h.bundle("b.vnd", func(*msgs.Bundle) {})
	if err := bundles.Publish(a); err != nil {
		t.Fatal(err)
	}
	h.change(lifecycle.Configure)
	if err := bundles.Publish(b); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; {
		select {
		case line := <-h.lines:
			if strings.HasPrefix(line, "bundle "+a.ID) {
				n++
			}
			if !strings.HasPrefix(line, "bundle "+b.ID) {
				continue
			}
			if n != 1 {
				t.Errorf("bundle %s was taken up %d times", a.ID, n)
			}
			return
		case <-time.After(long):
			t.Fatal("no line of the other bundle")
		}
	}
}

// A command that the limits cut is a warning. One that the law leads over to is none, for so ends each take-off.
func TestLeadingOverIsNoWarning(t *testing.T) {
	p, asked := defaults(t), quad.Command{Thrust: quad.Gravity}
	if level, text := limited(&p.Limits, asked); level != diagnostics.OK || !strings.Contains(text, "led over to") {
		t.Errorf("led over to: %v, %q", level, text)
	}
	asked.Rates.X = 2 * p.Limits.MaxTiltRate
	if level, text := limited(&p.Limits, asked); level != diagnostics.Warn || !strings.Contains(text, "cut to") {
		t.Errorf("beyond the limits: %v, %q", level, text)
	}
}
