package encoder

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/conditions"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/vnd"
)

// memory tells of the condition that is flown in, on the topic condition. It has a group of its own: latents do not
// wait for it.
type memory struct {
	node  *ros.Node
	robot string
	group *ros.Group
	pub   *ros.Publisher[diagnosticmsgs.DiagnosticStatus]

	// Of its group.
	*conditions.Memory
	m       diagnosticmsgs.DiagnosticStatus
	spoken  int // rows since it was told last
	trouble atomic.Pointer[string]
}

// saving is how often the file follows the time that is flown.
const saving = 5 * time.Second

func newMemory(c *ros.Context, n *ros.Node, p *Params) (*memory, error) {
	m := &memory{node: n, robot: p.Robot, group: c.NewGroup(ros.Exclusive)}
	var err error
	if m.Memory, err = conditions.New(p.Conditions, p.Robot, p.ConditionsFile); err != nil {
		return nil, fmt.Errorf("parameter conditions_file: %w", err)
	}
	if m.pub, err = ros.NewPublisher[diagnosticmsgs.DiagnosticStatus](n, "condition", node.LatchedQoS()); err != nil {
		return nil, err
	}
	o := ros.InGroup(m.group)
	if _, err = ros.NewService(n, "~/name_condition", func(q *msgs.SetConditionRequest, r *msgs.SetConditionResponse) {
		text, err := m.Name(q.Condition)
		r.Success, r.Message = err == nil, text
		if err != nil {
			r.Message = err.Error()
		}
		m.publish()
	}, o); err != nil {
		return nil, err
	}
	_, err = n.NewWallTimer(saving, m.save, o)
	return m, err
}

// save writes the file; what stops it is told, and tried again.
func (m *memory) save() {
	if err := m.Save(); err != nil {
		text := fmt.Sprintf("parameter conditions_file: %v", err)
		if old := m.trouble.Swap(&text); old == nil || *old != text {
			m.node.Log().Error().Msg(text)
		}
		return
	}
	m.trouble.Store(nil)
}

// take hands a latent over, with the window where that is due.
func (m *memory) take(t float64, model *control.LatentModel, z []float32, window []quad.Row) {
	z, window = slices.Clone(z), slices.Clone(window)
	dt := model.Robot.Dt
	m.group.Post(func() {
		m.Use(model.Bundle, dt, func(windows [][]quad.Row) [][]float64 { return encode(model, windows) })
		changed := m.Push(t, z, window)
		if m.spoken++; changed || float64(m.spoken)*dt >= 1 {
			m.publish()
		}
		if changed {
			m.save()
		}
	})
}

// encode reads windows by a model, for the memory.
func encode(m *control.LatentModel, windows [][]quad.Row) (all [][]float64) {
	Z := m.Model.Net.Latent
	z := vnd.Latents(m.Model, m.Robot, windows, 1)
	for i := 0; i+Z <= len(z) && Z > 0; i += Z {
		one := make([]float64, Z)
		for j := range one {
			one[j] = float64(z[i+j])
		}
		all = append(all, one)
	}
	return all
}

// entry is a condition as the topic lists it.
type entry struct {
	ID      int     `json:"id"`
	Name    string  `json:"name"`
	Visits  int     `json:"visits"`
	Seconds float64 `json:"seconds"`
}

// publish publishes the present condition.
func (m *memory) publish() {
	m.spoken = 0
	c, state := m.Current()
	s := &m.m
	*s = diagnosticmsgs.DiagnosticStatus{Level: diagnosticmsgs.DiagnosticStatusWarn, Name: "condition",
		HardwareID: m.robot, Message: state.String()}
	add := func(key, value string) {
		s.Values = append(s.Values, diagnosticmsgs.KeyValue{Key: key, Value: value})
	}
	add("state", state.String())
	if c != nil {
		switch state {
		case conditions.Known:
			s.Level, s.Message = diagnosticmsgs.DiagnosticStatusOk,
				fmt.Sprintf("seen before: %s (visit %d)", c.Label(), c.Visits)
		default:
			s.Message = "new: " + c.Label()
		}
		add("id", strconv.Itoa(c.ID))
		add("label", c.Label())
		add("visits", strconv.Itoa(c.Visits))
		add("seconds", fmt.Sprintf("%.1f", c.Seconds))
	} else {
		add("id", "")
		add("label", "")
	}
	add("distance", fmt.Sprintf("%.3f", m.Distance()))
	all := []entry{}
	for _, c := range m.All() {
		all = append(all, entry{c.ID, c.Name, c.Visits, c.Seconds})
	}
	list, err := json.Marshal(all)
	if err != nil {
		list = []byte("[]") // numbers and strings: cannot fail
	}
	add("conditions", strconv.Itoa(len(all)))
	add("all", string(list))
	if err := m.pub.Publish(s); err != nil {
		m.node.Log().Warn().Msg(err.Error())
	}
}

// report is the task "condition".
func (m *memory) report(s *diagnostics.Status) {
	s.Summary(diagnostics.OK, "kept")
	if t := m.trouble.Load(); t != nil {
		s.Summary(diagnostics.Error, "%s", *t)
	}
}
