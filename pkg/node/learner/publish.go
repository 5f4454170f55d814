package learner

import (
	"crypto/sha256"
	"time"

	"vnd/msgs"
	"vnd/pkg/learning/continual"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/vnd/bundle"
)

// publish sends a bundle, and the bytes of its file, to those that fly.
func (n *roundsNode) publish(b *bundle.Bundle, data []byte) {
	m := &msgs.Bundle{ID: b.ID, Parent: b.Parent, Robot: b.Robot, Task: b.Task, Data: data,
		Sha256: sha256.Sum256(data), MetricsJSON: string(b.Metrics)}
	m.Header.Stamp = n.Now().Msg()
	for _, p := range n.bundles {
		if err := p.Publish(m); err != nil {
			n.Log().Error().Msgf("topic bundle: %v", err)
		}
	}
}

// between is the least time between two messages that differ in their progress alone.
const between = time.Second / 5

// progress publishes what the learner does.
func (n *roundsNode) progress(s continual.Status) {
	rest := s
	rest.Share, rest.Loss, rest.Validation = 0, 0, 0
	if rest == n.published && time.Since(n.publishedAt) < between {
		return
	}
	n.published, n.publishedAt = rest, time.Now()
	m := &msgs.LearnerStatus{Phase: string(s.Phase), Progress: float32(s.Share), Transitions: uint64(s.Rows),
		BundleID: s.BundleID, Loss: float32(s.Loss), Validation: float32(s.Validation), Message: s.Message}
	m.Header.Stamp = n.Now().Msg()
	n.feedback(&s)
	for _, p := range n.status {
		if err := p.Publish(m); err != nil {
			n.Log().Error().Msgf("topic learner/status: %v", err)
		}
	}
}

func (n *roundsNode) log(bad bool, line string) {
	if bad {
		n.bad.Add(1)
		n.Log().Error().Msg(line)
		return
	}
	n.Log().Info().Msg(line)
}

// diagnose reports the state of learning.
func (n *roundsNode) diagnose(s *diagnostics.Status) {
	now := n.runner.Status()
	s.Summary(diagnostics.OK, "%s: %s", now.Phase, now.Message)
	if now.BundleID == "" {
		s.Merge(diagnostics.Warn, "there is no bundle yet")
	}
	s.Add("Phase", string(now.Phase))
	s.Add("Bundle", now.BundleID)
	s.Add("Rows", now.Rows)
	s.Add("Failures", n.bad.Load())
}
