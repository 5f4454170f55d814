package learner

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/flight/control"
	"vnd/pkg/node/controller"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/rostest"
)

// values are those of sharedParameters that a controller with its defaults has, but for one.
func values(t *testing.T, name, value string) []rclinterfaces.ParameterValue {
	t.Helper()
	var c control.Config
	param.Default(&c)
	if name != "" {
		if err := param.Set(&c, name, value); err != nil {
			t.Fatal(err)
		}
	}
	var all []rclinterfaces.ParameterValue
	for _, name := range sharedParameters() {
		all = append(all, params.ToMessage(param.Values(&c)[name]))
	}
	return all
}

// TestTheGateFliesAsTheControllerDoes: what differs is named, with what both have and what to do. Where the controller
// measures velocities, nobody filters poses.
func TestTheGateFliesAsTheControllerDoes(t *testing.T) {
	for name, c := range map[string]struct{ gate, controller, want string }{
		"defaults": {},
		"no filter in flight": {"", "state_filter=false",
			"judge.state_filter is true, and /quad/policy_controller flies with state_filter: false: set both alike"},
		"no filter in the gate": {"judge.state_filter=false", "",
			"judge.state_filter is false, and /quad/policy_controller flies with state_filter: true: set both alike"},
		"no filter":           {"judge.state_filter=false", "state_filter=false", ""},
		"measured velocities": {"judge.state_filter=false", "state_source=odometry", ""},
		"another airframe": {"", "guard.response.rate_lag=0.08", "guard.response.rate_lag is 0.025, and " +
			"/quad/policy_controller flies with guard.response.rate_lag: 0.08: give both one airframe file"},
		"another drag in the gate": {"guard.response.axial_drag=0.5", "", "guard.response.axial_drag is 0.5"},
		"three digits":             {"guard.response.rate_lag=0.0251", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var p Params
			param.Default(&p)
			if parameter, value, ok := strings.Cut(c.gate, "="); ok {
				if err := param.Set(&p, parameter, value); err != nil {
					t.Fatal(err)
				}
			}
			parameter, value, _ := strings.Cut(c.controller, "=")
			flown := must(controllerConfig(values(t, parameter, value)))(t)
			err := p.differs("/quad/policy_controller", flown)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, expected %q", err, c.want)
			}
		})
	}
}

// A controller of an older version has fewer parameters, and anybody may answer in its place.
func TestParametersThatAControllerHasNotGot(t *testing.T) {
	foreign := values(t, "", "")
	foreign[0] = params.ToMessage(int64(3))
	for _, v := range [][]rclinterfaces.ParameterValue{make([]rclinterfaces.ParameterValue, len(sharedParameters())),
		foreign} {
		if _, err := controllerConfig(v); !errors.Is(err, bridge.ErrNotKnown) {
			t.Errorf("%v, expected %v", err, bridge.ErrNotKnown)
		}
	}
}

// statuses are those on /diagnostics.
func statuses(t *testing.T, n *ros.Node) chan diagnosticmsgs.DiagnosticStatus {
	said := make(chan diagnosticmsgs.DiagnosticStatus, 10000)
	must(ros.NewSubscription(n, "/diagnostics", ros.DefaultQoS(), func(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
		for _, s := range m.Status {
			s.Values = slices.Clone(s.Values) // the message is used again
			said <- s
		}
	}))(t)
	return said
}

// TestControllerIsWatched: over DDS, the learner's diagnostics follow the parameters of a real policy_controller, and
// say nothing of one that is not there.
func TestControllerIsWatched(t *testing.T) {
	asked, flies := rostest.Wire(t, nil), rostest.Wire(t, []string{"-r", "__ns:=/quad", "-p", "state_filter:=false"})
	n := &learnerNode{roundsNode: must(newRoundsNode(asked))(t)}
	r := &robot{learnerNode: n, namespace: "/quad"}
	var p Params
	param.Default(&p)
	r.watchController(&p, 50*time.Millisecond)
	said := statuses(t, n.Node)
	u := must(diagnostics.New(n.Node, "quadrotor"))(t)
	u.Add("learning", func(s *diagnostics.Status) {
		s.Summary(diagnostics.OK, "learns")
		r.diagnoseController(s)
	})
	expect := func(level diagnostics.Level, value, message string) {
		t.Helper()
		want := diagnosticmsgs.KeyValue{Key: "Controller's parameters of quad", Value: value}
		s := diagnosticmsgs.DiagnosticStatus{}
		for end := time.After(patience / 5); !slices.Contains(s.Values, want); {
			u.Force()
			select {
			case s = <-said:
			case <-end:
				t.Fatalf("it never says %q", value)
			}
		}
		if s.Level != uint8(level) || s.Message != message {
			t.Errorf("level %d, %q", s.Level, s.Message)
		}
	}
	rostest.Spin(t, asked, 1)
	expect(diagnostics.OK, "not known", "learns")
	c := must(controller.New(t.Context(), flies))(t)
	rostest.Spin(t, flies, 1)
	expect(diagnostics.Warn, "not as in the gate",
		"judge.state_filter is true, and /quad/policy_controller flies with state_filter: false: set both alike")
	if err := c.Parameters().SetAtomically(params.Parameter{Name: "state_filter", Value: true}); err != nil {
		t.Fatal(err)
	}
	expect(diagnostics.OK, "as in the gate", "learns")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	expect(diagnostics.OK, "not known", "learns")
}
