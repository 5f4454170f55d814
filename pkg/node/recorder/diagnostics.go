package recorder

import (
	"strings"

	"vnd/pkg/node"
	"vnd/pkg/ros2/ros/diagnostics"
)

// reportSteps counts the steps that were received, lost and left out.
func (r *recorder) reportSteps(s *diagnostics.Status) {
	n, foreign, malformed := r.collector.Counts(), r.foreign.Load(), r.malformed.Load()
	s.Summary(diagnostics.OK, "%d steps", n.Steps)
	if n.StepLosses.Steps > 0 {
		s.Merge(diagnostics.Warn, "%d steps were lost on the way", n.StepLosses.Steps)
	}
	if n.Dropped > 0 {
		s.Merge(diagnostics.Warn, "%d steps dropped: the disk was too slow", n.Dropped)
	}
	if foreign > 0 {
		s.Merge(diagnostics.Error, "topic %s: two controllers publish steps, %d of the second left out",
			r.topics[0].full, foreign)
	}
	if n := r.motored.Load(); n > 0 {
		s.Merge(diagnostics.Warn, "topic %s: %d left out: %s", r.topics[0].full, n, node.ByMotors)
	}
	if malformed > 0 {
		s.Merge(diagnostics.Error, "topic %s: %d messages could not be decoded", r.topics[0].full, malformed)
	}
	s.Add("Steps", n.Steps)
	s.Add("Steps lost (gaps of seq)", n.StepLosses.Steps)
	s.Add("Steps dropped (queue)", n.Dropped)
	s.Add("Steps received twice", n.Repeated)
	s.Add("Steps unfit for learning", n.Unfit)
	s.Add("Steps not in flight, or without a state", n.Unlearned)
	s.Add("Steps of another controller", foreign)
	s.Add("Steps of flights by motors", r.motored.Load())
	s.Add("Controller restarts", n.Restarts)
}

// reportBuffer is the state of the transitions.
func (r *recorder) reportBuffer(s *diagnostics.Status) {
	n := r.collector.Counts()
	s.Summary(diagnostics.OK, "%d rows in %d segments", n.Rows, n.Segments)
	if r.stopped.Load() {
		s.Merge(diagnostics.Warn, "stopped by ~/stop")
	}
	if n.Lost > 0 {
		s.Merge(diagnostics.Warn, "%d rows lost", n.Lost)
	}
	if n.Err != nil {
		s.Merge(diagnostics.Error, "%v", n.Err)
	}
	s.Add("Rows", n.Rows)
	s.Add("Segments", n.Segments)
	s.Add("Rows lost", n.Lost)
}

// reportBag is the state of the bag, with what is not in it.
func (r *recorder) reportBag(s *diagnostics.Status) {
	b := r.recording.Status()
	level, text := diagnostics.OK, "recording "+b.Bag
	if b.Bag == "" {
		level, text = diagnostics.Warn, "no bag: "+b.Reason
	}
	s.Summary(level, "%s", text)
	dropped := uint64(0)
	for topic, n := range b.Dropped {
		dropped += n
		s.Add("Dropped "+topic, n)
	}
	if dropped > 0 || b.Lost > 0 {
		s.Merge(diagnostics.Warn, "%d messages dropped, %d lost to disk errors", dropped, b.Lost)
	}
	overrun, silent := uint64(0), []string{}
	for _, l := range r.topics {
		n := l.lost()
		overrun += n
		s.Addf("Messages of "+l.full, "%d", l.received.Load())
		if l.received.Load() == 0 {
			silent = append(silent, l.full)
		}
	}
	if overrun > 0 {
		s.Merge(diagnostics.Warn, "%d messages were overwritten by newer ones in the subscriptions", overrun)
	}
	s.Add("Messages written", b.Written)
	s.Add("Messages dropped (queue)", dropped)
	s.Add("Messages lost (disk)", b.Lost)
	s.Add("Messages overrun (subscriptions)", overrun)
	s.Add("Topics without messages", strings.Join(silent, " "))
	s.Add("Bytes", b.Bytes)
	s.Add("Files", b.Files)
	s.Add("Free MiB", b.Free>>20)
}
