package learner

import (
	"fmt"
	"math"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual/rounds"
	robotarm "vnd/pkg/robot/arm"
)

// armTicks makes ticks of what arm_controller reports. The payload and friction that a second shows tell under which
// condition they were. The zero value has received none.
type armTicks struct {
	rows    []robotarm.Row
	ticks   []rounds.ControllerTick
	bundles bundleTicks
}

// add takes a tick, and returns those of a window that is whole.
func (w *armTicks) add(m *msgs.ArmStep) (window []rounds.ControllerTick, err error) {
	row := robotarm.Row{T: float64(bridge.Nanoseconds(m.Header.Stamp)) / 1e9}
	for _, x := range []struct {
		name string
		from []float64
		to   []float64
	}{{"position", m.Position, row.State.Q[:]}, {"velocity", m.Velocity, row.State.V[:]},
		{"effort", m.Effort, row.Torque[:]}} {
		if len(x.from) != robotarm.Joints {
			return nil, fmt.Errorf("%s has %d numbers, expected %d", x.name, len(x.from), robotarm.Joints)
		}
		copy(x.to, x.from)
	}
	t := rounds.ControllerTick{Stamp: bridge.Nanoseconds(m.Header.Stamp), Bundle: m.BundleID, Task: m.Task,
		Error: so3.Vec3(m.Tool).Sub(so3.Vec3(m.Reference)).Norm(), Policy: m.Policy}
	if t.Dropped = w.bundles.dropped(m.Seq, m.BundleID, m.Fault != ""); t.Dropped != "" {
		t.Fault = m.Fault
	}
	if n := len(w.rows); n > 0 && math.Abs(row.T-w.rows[n-1].T-armlearning.Dt) > armlearning.Dt/4 {
		window, w.rows, w.ticks = w.ticks, nil, nil
		for i := range window {
			window[i].Policy = false // nobody knows under which condition
		}
	}
	w.rows, w.ticks = append(w.rows, row), append(w.ticks, t)
	if len(w.rows) < armlearning.PlaceRows {
		return window, nil
	}
	at, err := armlearning.Place(w.rows)
	n := len(w.ticks) - 1
	window = w.ticks[:n:n]
	for i := range window {
		window[i].Place, window[i].Policy = at, window[i].Policy && err == nil
	}
	w.rows, w.ticks = append([]robotarm.Row(nil), w.rows[n]), append([]rounds.ControllerTick(nil), w.ticks[n])
	return window, nil
}
