package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	"vnd/pkg/flight/control"
	"vnd/pkg/ros2/ros/action"
)

type pursuedTask = action.Pursued[msgs.FlyTaskGoal, msgs.FlyTaskResult, msgs.FlyTaskFeedback]

// taskFlier asks a harness' node for tasks.
type taskFlier struct {
	*harness
	ctx     context.Context
	client  *action.Client[msgs.FlyTaskGoal, msgs.FlyTaskResult, msgs.FlyTaskFeedback]
	errored chan float32
}

func newTaskFlier(t *testing.T) *taskFlier {
	t.Helper()
	h := ready(t)
	h.motion("mocap/pose", 0)
	h.flying()
	c := must(action.NewClient[msgs.FlyTaskGoal, msgs.FlyTaskResult, msgs.FlyTaskFeedback](h.n,
		"/policy_controller/fly_task"))(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*long)
	t.Cleanup(cancel)
	if err := c.WaitForServer(ctx); err != nil {
		t.Fatal(err)
	}
	return &taskFlier{h, ctx, c, make(chan float32, 1000)}
}

// fly begins to hover one centimetre above.
func (f *taskFlier) fly(seconds int32) *pursuedTask {
	f.t.Helper()
	f.flying()
	q := &msgs.FlyTaskGoal{Task: "hover", ReferenceJSON: `{"kind": "hover", "point": [0, 0, 1.01]}`}
	q.Duration.Sec = seconds
	return must(f.client.Send(f.ctx, q, func(m *msgs.FlyTaskFeedback) { f.errored <- m.Error }))(f.t)
}

// ends waits for the goal's end, and holds it to a status and to the task that flies then.
func (f *taskFlier) ends(p *pursuedTask, want action.Status, flies *control.TaskReference) {
	f.t.Helper()
	status, r, err := p.Result(f.ctx)
	if err != nil || status != want || r.Message == "" {
		f.t.Errorf("%v %+v %v, expected %v", status, r, err, want)
	}
	if _, now := f.c.flying(); now != flies {
		f.t.Errorf("%+v flies, expected %+v", now, flies)
	}
}

// A task flies for its time, or until it is canceled, another is set, or the guard takes control; then the one of
// before flies again, unless another was set.
func TestFlyTask(t *testing.T) {
	f := newTaskFlier(t)
	const here = `{"kind": "hover", "point": [0, 0, 1]}`
	if err := f.c.setTask("hover", here); err != nil {
		t.Fatal(err)
	}
	_, before := f.c.flying()
	f.ends(f.fly(1), action.Succeeded, before)
	if off := <-f.errored; off < .005 || off > .02 {
		t.Errorf("%v m off, expected .01", off)
	}

	p := f.fly(0)
	if _, err := f.client.Send(f.ctx, &msgs.FlyTaskGoal{Task: "hover"}, nil); !errors.Is(err, action.ErrRejected) {
		t.Errorf("a second goal: %v", err)
	}
	if err := p.Cancel(f.ctx); err != nil {
		t.Error(err)
	}
	f.ends(p, action.Canceled, before)

	p = f.fly(0)
	if err := f.c.land(); err != nil { // the guard takes control
		t.Fatal(err)
	}
	f.ends(p, action.Aborted, before)

	p = f.fly(0)
	if err := f.c.setTask("hover", here); err != nil {
		t.Fatal(err)
	}
	_, set := f.c.flying()
	f.ends(p, action.Aborted, set)
}

func refusesGoal(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected %q", err, want)
	}
}

// What would end badly, or cannot be flown, is refused before anything changes.
func TestFlyTaskRefuses(t *testing.T) {
	h := ready(t)
	h.motion("mocap/pose", 0)
	h.flying()
	_, before := h.c.flying()
	backwards := &msgs.FlyTaskGoal{Task: "hover"}
	backwards.Duration.Sec = -1
	for want, q := range map[string]*msgs.FlyTaskGoal{
		"task land: the task of before would take off again": {Task: "land"},
		"a duration of -1 s: expected at least 0":            backwards,
		`was trained for`: {Task: "juggle"},
		`reference_json`:  {Task: "hover", ReferenceJSON: `{"kind": "nowhere"}`},
	} {
		_, err := h.c.beginTask(q)
		refusesGoal(t, err, want)
	}
	h.c.land()
	for end := time.Now().Add(long); h.c.policyFlies() == nil && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	_, err := h.c.beginTask(&msgs.FlyTaskGoal{Task: "hover"})
	refusesGoal(t, err, "the guard has control authority (land")
	if _, now := h.c.flying(); now != before {
		t.Errorf("%+v flies", now)
	}
}
