package operator

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// Watch listens to what a robot does, learns and complains of.
type Watch struct {
	p *Operator

	mu       sync.Mutex
	step     msgs.Step
	steps    int
	since    time.Time // of the first of steps
	stepAt   time.Time
	learner  msgs.LearnerStatus
	learning bool
	faults   map[string]Fault
}

// Fault is a diagnosis that is not good.
type Fault struct {
	Level   string `json:"level"` // warn, error or stale
	Name    string `json:"name"`
	Message string `json:"message"`
	at      time.Time
}

// Watch begins to listen in the namespace.
func (p *Operator) Watch() (*Watch, error) {
	w := &Watch{p: p, faults: map[string]Fault{}}
	if _, err := ros.NewSubscription(p.Node, p.full("step"), node.StepQoS(), w.onStep); err != nil {
		return nil, err
	}
	if _, err := ros.NewSubscription(p.Node, p.full("learner/status"), node.LatchedQoS(),
		func(m *msgs.LearnerStatus, _ ros.Info) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.learner, w.learning = *m, true
		}); err != nil {
		return nil, err
	}
	_, err := ros.NewSubscription(p.Node, "/diagnostics", ros.DefaultQoS(), w.onDiagnostics)
	return w, err
}

func (w *Watch) onStep(m *msgs.Step, _ ros.Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stepAt = time.Now()
	if w.steps++; w.steps == 1 {
		w.since = w.stepAt
	}
	w.step = *m
	w.step.Reference = slices.Clone(m.Reference) // the rest of its memory is used again
}

// onDiagnostics takes those of nodes in the namespace.
func (w *Watch) onDiagnostics(m *diagnosticmsgs.DiagnosticArray, i ros.Info) {
	if !w.inNamespace(i.Publisher) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range m.Status {
		level := map[uint8]string{diagnosticmsgs.DiagnosticStatusWarn: "warn",
			diagnosticmsgs.DiagnosticStatusError: "error", diagnosticmsgs.DiagnosticStatusStale: "stale"}[s.Level]
		if level == "" {
			delete(w.faults, s.Name)
			continue
		}
		w.faults[s.Name] = Fault{level, s.Name, s.Message, time.Now()}
	}
}

// inNamespace reports whether a publisher of diagnostics is of the robot; one that is not discovered yet may be.
func (w *Watch) inNamespace(publisher rmw.GID) bool {
	for _, e := range w.p.Context().Graph().Publishers("/diagnostics") {
		if e.GID == publisher {
			return e.Node.Namespace == w.p.namespace || strings.HasPrefix(e.Node.Namespace, w.p.namespace+"/")
		}
	}
	return true
}

// Flying is what flies.
type Flying struct {
	Task       string  `json:"task"`
	Bundle     string  `json:"bundle"`
	Guard      string  `json:"guard"`
	Error      float64 `json:"error_m"` // −1 where there is no reference
	Confidence float64 `json:"confidence"`
	Rate       float64 `json:"rate_hz"`
	Age        float64 `json:"age_s"` // since the newest step came
}

// Learning is what is learned.
type Learning struct {
	Phase       string  `json:"phase"`
	Progress    float64 `json:"progress"`
	Transitions uint64  `json:"transitions"`
	Bundle      string  `json:"bundle"`
	Message     string  `json:"message"`
}

// Status is what a robot does, on one screen.
type Status struct {
	Namespace string    `json:"namespace"`
	Nodes     []string  `json:"nodes"`
	Elsewhere []string  `json:"elsewhere"` // namespaces with nodes, where this one has none
	Flying    *Flying   `json:"flying"`    // nil: nobody publishes steps
	Learning  *Learning `json:"learning"`  // nil: nobody learns
	Wrong     []Fault   `json:"wrong"`
}

// Now is the status as it is known.
func (w *Watch) Now() *Status {
	const forgotten = 5 * time.Second // diagnostics come once a second
	s := &Status{Namespace: cmp.Or(w.p.namespace, "/"), Nodes: []string{}, Elsewhere: []string{}, Wrong: []Fault{}}
	all := w.p.Nodes()
	for _, n := range all {
		if strings.HasPrefix(n, w.p.namespace+"/") {
			s.Nodes = append(s.Nodes, n)
		}
	}
	if len(s.Nodes) == 0 {
		for _, n := range all {
			s.Elsewhere = append(s.Elsewhere, path.Dir(n))
		}
		slices.Sort(s.Elsewhere)
		s.Elsewhere = slices.Compact(s.Elsewhere)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.steps > 0 {
		s.Flying = w.flying()
	}
	if w.learning {
		l := &w.learner
		s.Learning = &Learning{l.Phase, float64(l.Progress), l.Transitions, l.BundleID, l.Message}
	}
	for _, name := range slices.Sorted(maps.Keys(w.faults)) {
		if f := w.faults[name]; time.Since(f.at) < forgotten {
			s.Wrong = append(s.Wrong, f)
		}
	}
	return s
}

func (w *Watch) flying() *Flying {
	m := &w.step
	f := &Flying{Task: m.Task, Bundle: m.BundleID, Guard: guard.Stage(m.GuardState).String(), Error: -1,
		Confidence: float64(m.Confidence), Age: time.Since(w.stepAt).Seconds()}
	if r := m.Reference; len(r) >= 3 {
		at := m.Pose.Position
		f.Error = math.Sqrt((at.X-r[0])*(at.X-r[0]) + (at.Y-r[1])*(at.Y-r[1]) + (at.Z-r[2])*(at.Z-r[2]))
	}
	if d := w.stepAt.Sub(w.since).Seconds(); w.steps > 1 && d > 0 {
		f.Rate = float64(w.steps-1) / d
	}
	return f
}

// WriteText writes the screen.
func (s *Status) WriteText(out io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-8s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("robot", "%s: %s", s.Namespace, s.nodes())
	switch f := s.Flying; {
	case f == nil:
		line("flies", "nothing: no steps come from a controller")
	case f.Age > 1:
		line("flies", "nothing: the last step came %.0f s ago", f.Age)
	default:
		far := "no reference"
		if f.Error >= 0 {
			far = fmt.Sprintf("%.3f m off", f.Error)
		}
		line("flies", "%s by bundle %s, %s, %s, confidence %.2f, %.0f Hz", f.Task, f.Bundle, f.Guard, far, f.Confidence,
			f.Rate)
	}
	if l := s.Learning; l == nil {
		line("learns", "nothing: no background_learner is there")
	} else {
		bundle := "no bundle yet"
		if l.Bundle != "" {
			bundle = "bundle " + l.Bundle
		}
		text := fmt.Sprintf("%s %.0f %%, %d transitions, %s", l.Phase, 100*l.Progress, l.Transitions, bundle)
		if l.Message != "" {
			text += ": " + l.Message
		}
		line("learns", "%s", text)
	}
	for _, f := range s.Wrong {
		line(f.Level, "%s: %s", f.Name, f.Message)
	}
	if len(s.Wrong) == 0 {
		line("wrong", "nothing that diagnostics tell")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (s *Status) nodes() string {
	switch {
	case len(s.Nodes) > 0:
		return strings.Join(s.Nodes, ", ")
	case len(s.Elsewhere) > 0:
		return "no nodes; --namespace is for those of " + strings.Join(s.Elsewhere, ", ")
	}
	return fmt.Sprintf("no nodes, in ROS_DOMAIN_ID %q", os.Getenv("ROS_DOMAIN_ID"))
}
