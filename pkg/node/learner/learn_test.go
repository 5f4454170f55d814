package learner

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"vnd/msgs"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros/action"
)

type learning = action.Client[msgs.LearnGoal, msgs.LearnResult, msgs.LearnFeedback]

// transitions waits until the learner has some.
func (p *people) transitions() {
	p.t.Helper()
	for p.status("").Transitions == 0 {
	}
}

// A goal of rounds reports their phases, and ends with how many bundles were promoted. One at a time is pursued, and
// what cannot be learned is aborted, with why.
func TestLearnIsAGoal(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	d, dir := inproc.NewDomain(), t.TempDir()
	p := join(t, d)
	begin(t, d, "directory:="+dir, "new_rows:=1000000")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := must(action.NewClient[msgs.LearnGoal, msgs.LearnResult, msgs.LearnFeedback](p.n,
		"/quad/background_learner/learn"))(t)
	if err := c.WaitForServer(ctx); err != nil {
		t.Fatal(err)
	}
	first := p.bundle()
	p.ends(ctx, c, action.Aborted, "too little was flown")
	if err := p.segments.Publish(segment(t, filepath.Join(dir, "buffer", "good"), "f", 10)); err != nil {
		t.Fatal(err)
	}
	p.transitions()
	r := p.ends(ctx, c, action.Succeeded, "follows "+first.ID)
	if second := p.bundle(); r.Rounds != 1 || r.Promoted != 1 || r.BundleID != second.ID {
		t.Errorf("%+v, %s was published", r, second.ID)
	}
	p.cancels(ctx, c)
	p.pause(true)
	p.ends(ctx, c, action.Aborted, "learning is paused")
}

// cancels ends a goal of more rounds than anybody waits for. Another one beside it is refused.
func (p *people) cancels(ctx context.Context, c *learning) {
	p.t.Helper()
	goal := must(c.Send(ctx, &msgs.LearnGoal{Rounds: 1e6}, nil))(p.t)
	if _, err := c.Send(ctx, &msgs.LearnGoal{}, nil); !errors.Is(err, action.ErrRejected) {
		p.t.Errorf("a goal beside it: %v", err)
	}
	if err := goal.Cancel(ctx); err != nil {
		p.t.Error(err)
	}
	if status, r, err := goal.Result(ctx); err != nil || status != action.Canceled || r.Message != "canceled" {
		p.t.Errorf("%v %+v %v", status, r, err)
	}
}

// ends has a round learned, and holds its end to a status and a message.
func (p *people) ends(ctx context.Context, c *learning, want action.Status, message string) *msgs.LearnResult {
	p.t.Helper()
	phases := make(chan string, 10000)
	goal := must(c.Send(ctx, &msgs.LearnGoal{}, func(f *msgs.LearnFeedback) {
		if f.Round == 1 {
			phases <- f.Phase
		}
	}))(p.t)
	status, r, err := goal.Result(ctx)
	if err != nil || status != want || !strings.Contains(r.Message, message) {
		p.t.Fatalf("%v %+v %v, expected %v, %q", status, r, err, want, message)
	}
	seen := map[string]bool{}
	for len(phases) > 0 {
		seen[<-phases] = true
	}
	if want == action.Succeeded && !(seen[msgs.LearnerStatusPhaseFit] && seen[msgs.LearnerStatusPhaseGate]) {
		p.t.Errorf("phases %v", seen)
	}
	return r
}
