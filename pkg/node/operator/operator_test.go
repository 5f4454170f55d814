package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/node"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/rostest"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// lab is a robot's node in a process of its own, and an operator in another.
func lab(t *testing.T, patience time.Duration) (*ros.Node, *Operator) {
	t.Helper()
	d := inproc.NewDomain()
	env := func(string) string { return "" }
	c := must(ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs", "-r",
		"__ns:=/quad"}, Backend: ros.InProcess(d), Getenv: env, Stderr: io.Discard, Stdout: io.Discard}))(t)
	n := must(c.NewNode("policy_controller"))(t)
	rostest.Spin(t, c, 1)
	p, end, err := Join(Options{Namespace: "quad", Patience: patience,
		Ros: ros.Options{Backend: ros.InProcess(d), Getenv: env}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return n, p
}

// patience is for what must happen; soon for what must not.
const (
	patience = 30 * time.Second
	soon     = 50 * time.Millisecond
)

func fails(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, expected %q on one line", err, want)
	}
}

// Nodes of one name are counted, and a namespace that is none is refused by what was given.
func TestNamesakesAndNamespaces(t *testing.T) {
	n, p := lab(t, patience)
	must(n.Context().NewNode("policy_controller"))(t)
	if err := p.Context().WaitForGraph(t.Context(), func(rmw.Graph) bool {
		return p.Namesakes()["/quad/policy_controller"] == 2
	}); err != nil || len(p.Nodes()) != 1 {
		t.Errorf("%v: %v", err, p.Namesakes())
	}
	for _, wrong := range []string{"a//b", "a b", "1a"} {
		_, _, err := Join(Options{Namespace: wrong, Patience: soon})
		fails(t, err, fmt.Sprintf("namespace %q: ", wrong))
	}
}

func TestGraphIsNamedWithoutHiddenNodes(t *testing.T) {
	n, p := lab(t, patience)
	must(ros.NewPublisher[stdmsgs.String](n, "words", ros.DefaultQoS()))(t)
	must(p.node(t.Context(), "policy_controller"))(t)
	p.Settle(t.Context())
	if names := p.Nodes(); !slices.Equal(names, []string{"/quad/policy_controller"}) {
		t.Errorf("%q", names)
	}
	i := slices.IndexFunc(p.Topics(), func(x Topic) bool { return x.Name == "/quad/words" })
	if i < 0 {
		t.Fatalf("%+v", p.Topics())
	}
	if x := p.Topics()[i]; !slices.Equal(x.Types, []string{"std_msgs/msg/String"}) ||
		!slices.Equal(x.Publishers, []string{"/quad/policy_controller"}) || len(x.Subscriptions) != 0 {
		t.Errorf("%+v", x)
	}
}

// Who is found late, as one of another DDS implementation is, is in the lists; and who comes after a longer pause,
// where the pause before was long.
func TestSettleWaitsForTheSlow(t *testing.T) {
	n, p := lab(t, patience)
	failed := make(chan error, 2)
	for name, tenths := range map[string]time.Duration{"late": 15, "later": 35} {
		time.AfterFunc(tenths*100*time.Millisecond, func() {
			_, err := ros.NewPublisher[stdmsgs.String](n, name, ros.DefaultQoS())
			failed <- err
		})
	}
	p.Settle(t.Context())
	for _, name := range []string{"late", "later"} {
		if !slices.ContainsFunc(p.Topics(), func(x Topic) bool { return x.Name == "/quad/"+name }) {
			t.Errorf("%s is not in %+v", name, p.Topics())
		}
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

// talk publishes words until the test ends.
func talk(t *testing.T, n *ros.Node, topic string) {
	t.Helper()
	pub := must(ros.NewPublisher[stdmsgs.String](n, topic, ros.DefaultQoS()))(t)
	must(n.NewWallTimer(time.Millisecond, func() { _ = pub.Publish(&stdmsgs.String{Data: "hello"}) }))(t)
}

func TestEcho(t *testing.T) {
	n, p := lab(t, patience)
	talk(t, n, "words")
	received := 0
	err := p.Echo(t.Context(), "words", 3, func(m cdr.Message) error {
		if received++; Text(m, 0) != "data: hello\n" {
			t.Errorf("%q", Text(m, 0))
		}
		return nil
	})
	if err != nil || received != 3 {
		t.Errorf("%d messages, %v", received, err)
	}
	r, err := p.Rate(t.Context(), "/quad/words", 200*time.Millisecond)
	if err != nil || r.Messages < 2 || r.Type != "std_msgs/msg/String" || r.Rate <= 0 || r.Bytes != 14*r.Messages {
		t.Errorf("%+v, %v", r, err)
	}
	must(ros.NewRawPublisher(n, "strange", "lab_msgs/msg/Gripper", ros.DefaultQoS()))(t)
	fails(t, p.Echo(t.Context(), "strange", 1, nil),
		"topic /quad/strange is of type lab_msgs/msg/Gripper, which this program does not know")
	must(ros.NewPublisher[stdmsgs.String](n, "silence", ros.DefaultQoS()))(t)
	_, _, _, err = p.typeOf(t.Context(), "silence") // wait until it is there
	p.patience = soon
	fails(t, errors.Join(err, p.Echo(t.Context(), "silence", 1, nil)), "topic /quad/silence: no message within 50ms")
	fails(t, p.Echo(t.Context(), "wordz", 1, nil), "topic /quad/wordz: nobody publishes it within 50ms; there are ")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Echo(ctx, "words", 0, func(cdr.Message) error { return nil }); err == nil {
		t.Error("goes on")
	}
}

func TestRateOfArrivals(t *testing.T) {
	at := func(ms ...int) (times []time.Time) {
		for _, x := range ms {
			times = append(times, time.UnixMilli(int64(x)))
		}
		return times
	}
	r := new(Rate)
	if r.measure(at(5)); r.Messages != 1 || r.Rate != 0 {
		t.Errorf("%+v", r)
	}
	r.measure(at(0, 10, 30, 40))
	if r.Messages != 4 || r.Rate < 74.9 || r.Rate > 75.1 || r.Least != 0.01 || r.Most != 0.02 {
		t.Errorf("%+v", r)
	}
}

func TestCalls(t *testing.T) {
	n, p := lab(t, patience)
	trigger := func(ok bool, text string) func(*stdsrvs.TriggerRequest, *stdsrvs.TriggerResponse) {
		return func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) { r.Success, r.Message = ok, text }
	}
	must(ros.NewService(n, "~/land", trigger(true, "landing")))(t)
	must(ros.NewService(n, "~/rollback", trigger(false, "there is no older one")))(t)
	must(ros.NewService(n, "~/set_task", func(q *msgs.SetTaskRequest, r *msgs.SetTaskResponse) {
		r.Success, r.Message = q.Task == "track", "task "+q.Task+" "+q.ReferenceJSON
	}))(t)
	if text, err := p.Trigger(t.Context(), "policy_controller/land"); err != nil || text != "landing" {
		t.Errorf("%q, %v", text, err)
	}
	_, err := p.Trigger(t.Context(), "policy_controller/rollback")
	fails(t, err, "service /quad/policy_controller/rollback: refused: there is no older one")
	text, err := p.SetTask(t.Context(), "policy_controller/set_task", "track", "{}")
	if err != nil || text != "task track {}" {
		t.Errorf("%q, %v", text, err)
	}
	_, err = p.SetTask(t.Context(), "policy_controller/set_task", "juggle", "")
	fails(t, err, "refused: task juggle")
	m, err := p.Call(t.Context(), "/quad/policy_controller/set_task", "{task: track}")
	if err != nil || Text(m, 0) != "success: true\nmessage: 'task track '\n" {
		t.Errorf("%v, %v", m, err)
	}
	for task, refused := range map[string]bool{"track": false, "juggle": true} {
		if m, err := p.Call(t.Context(), "policy_controller/set_task", "{task: "+task+"}"); err != nil ||
			Refused(m) != refused {
			t.Errorf("%s: %v, %v", task, m, err)
		}
	}
	_, err = p.Call(t.Context(), "policy_controller/set_task", "{taks: hover}")
	fails(t, err, `service /quad/policy_controller/set_task (vnd/srv/SetTask): no field "taks", expected fields `)
	must(ros.NewService(n, "/another/one", func(*stdsrvs.SetBoolRequest, *stdsrvs.SetBoolResponse) {}))(t)
	must(0, p.Context().WaitForGraph(t.Context(),
		func(g rmw.Graph) bool { return g.Services()["/another/one"] != nil }))(t)
	p.patience = soon
	_, err = p.Trigger(t.Context(), "policy_controller/fly")
	fails(t, err, "service /quad/policy_controller/fly: nobody serves it within 50ms; "+
		"there are /quad/policy_controller/")
}

// An answer that takes longer than the service to be found is waited for, and that is said once.
func TestSlowAnswerIsWaitedFor(t *testing.T) {
	n, p := lab(t, patience)
	said := make(chan string, 2)
	must(ros.NewService(n, "~/arm", func(_ *stdsrvs.SetBoolRequest, r *stdsrvs.SetBoolResponse) {
		r.Success, r.Message = true, "armed after: "+<-said
	}))(t)
	must(ros.NewService(n, "~/mute", func(*stdsrvs.TriggerRequest, *stdsrvs.TriggerResponse) {
		<-t.Context().Done()
	}))(t)
	must(p.Call(t.Context(), "policy_controller/get_parameters", ""))(t) // services are there
	p.patience, p.answers = time.Second, patience
	p.waiting = func(service string) { said <- service }
	m, err := p.Call(t.Context(), "policy_controller/arm", "{data: true}")
	want := "success: true\nmessage: 'armed after: /quad/policy_controller/arm'\n"
	if err != nil || Text(m, 0) != want || len(said) > 0 {
		t.Errorf("%v, %v", m, err)
	}
	p.answers = 2 * time.Second
	_, err = p.Call(t.Context(), "policy_controller/mute", "")
	fails(t, err, "service /quad/policy_controller/mute: no answer within 2s")
}

func TestParameters(t *testing.T) {
	n, p := lab(t, patience)
	for name, v := range map[string]any{"lab.rate": 50.0, "lab.name": "cf", "lab.list": []float64{1}} {
		must(n.Parameters().Declare(name, v, params.Descriptor{}))(t)
	}
	all := must(p.Parameters(t.Context(), "policy_controller", nil))(t)
	i := slices.IndexFunc(all, func(x Parameter) bool { return x.Name == "lab.rate" })
	if i < 0 || all[i].Value != 50.0 || FormatValue(all[i].Value) != "50.0" {
		t.Errorf("%+v", all)
	}
	if v, err := p.SetParameter(t.Context(), "policy_controller", "lab.rate", "100"); err != nil || v != 100.0 {
		t.Errorf("%v, %v", v, err)
	}
	if now := must(n.Parameters().Get("lab.rate"))(t); now != 100.0 {
		t.Errorf("%v", now)
	}
	list := must(p.SetParameter(t.Context(), "policy_controller", "lab.list", "[2, 3.5]"))(t)
	if FormatValue(list) != "[2.0, 3.5]" {
		t.Errorf("%v", list)
	}
	_, err := p.SetParameter(t.Context(), "policy_controller", "lab.rate", "fast")
	fails(t, err, `parameter lab.rate: "fast" is not of its type, double`)
	_, err = p.Parameters(t.Context(), "policy_controller", []string{"lab.rat"})
	fails(t, err, `node /quad/policy_controller has no parameter "lab.rat"; there is "lab.rate"`)
	p.patience = soon
	_, err = p.Parameters(t.Context(), "controller", nil)
	fails(t, err, "node /quad/controller is not in the graph within 50ms; there are /quad/policy_controller")
}

func TestStatusOfAnotherDomain(t *testing.T) {
	t.Setenv("ROS_DOMAIN_ID", "7")
	var b strings.Builder
	if err := (&Status{Namespace: "/quad"}).WriteText(&b); err != nil ||
		!strings.HasPrefix(b.String(), "robot    /quad: no nodes, in ROS_DOMAIN_ID \"7\"\n") {
		t.Errorf("%v, %s", err, &b)
	}
}

func TestStatusNamesNamespacesWithNodes(t *testing.T) {
	_, p := lab(t, patience)
	w := must(p.Watch())(t)
	for namespace, want := range map[string]string{
		"/other": "robot    /other: no nodes; --namespace is for those of /quad\n",
		"":       "robot    /: /quad/policy_controller\n",
	} {
		p.namespace = namespace
		var b strings.Builder
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
			b.Reset()
			if err := w.Now().WriteText(&b); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(b.String(), want) {
				break
			}
		}
		if !strings.HasPrefix(b.String(), want) {
			t.Errorf("namespace %q:\n%s\nexpected %s", namespace, &b, want)
		}
	}
}

func TestStatus(t *testing.T) {
	n, p := lab(t, patience)
	w := must(p.Watch())(t)
	var b strings.Builder
	if err := w.Now().WriteText(&b); err != nil || !strings.Contains(b.String(), "flies    nothing: no steps come") ||
		!strings.Contains(b.String(), "learns   nothing: no background_learner is there") {
		t.Errorf("%v\n%s", err, &b)
	}
	steps := must(ros.NewPublisher[msgs.Step](n, "step", node.StepQoS()))(t)
	learning := must(ros.NewPublisher[msgs.LearnerStatus](n, "learner/status", node.LatchedQoS()))(t)
	diagnoses := must(ros.NewPublisher[diagnosticmsgs.DiagnosticArray](n, "/diagnostics", ros.DefaultQoS()))(t)
	publish := func() {
		step := &msgs.Step{Task: "track", BundleID: "b1", Reference: []float64{0, 0, 1}}
		step.Pose.Position.X, step.Pose.Position.Z = 0.25, 1
		if steps.Publish(step) != nil || learning.Publish(&msgs.LearnerStatus{Phase: "fit", Progress: 0.5,
			Transitions: 7, BundleID: "b1", Message: "fitting"}) != nil || diagnoses.Publish(
			&diagnosticmsgs.DiagnosticArray{Status: []diagnosticmsgs.DiagnosticStatus{{Level: 2, Name: "control",
				Message: "no sample"}, {Level: 0, Name: "rate", Message: "good"}}}) != nil {
			t.Error("not published")
		}
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		publish()
		if s := w.Now(); s.Flying != nil && s.Learning != nil && len(s.Wrong) == 1 && len(s.Nodes) == 1 {
			b.Reset()
			if err := s.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"robot    /quad: /quad/policy_controller\n", "track by bundle b1, ",
				"0.250 m off", "learns   fit 50 %, 7 transitions, bundle b1: fitting\n",
				"error    control: no sample\n"} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s\nexpected %q", &b, want)
				}
			}
			return
		}
	}
	t.Errorf("%+v", w.Now())
}
