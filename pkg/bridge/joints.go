package bridge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
)

// Joints are the names of an arm's joints, in the order in which it is commanded.
type Joints []string

// PandaJoints are the names, or where there are none those of a Panda's own driver.
func PandaJoints(names []string) Joints {
	if len(names) > 0 {
		return names
	}
	return Joints{"panda_joint1", "panda_joint2", "panda_joint3", "panda_joint4", "panda_joint5", "panda_joint6",
		"panda_joint7"}
}

// Check refuses names that do not tell n joints apart.
func (j Joints) Check(n int) error {
	if len(j) != n {
		return fmt.Errorf("parameter joints has %d names, expected %d", len(j), n)
	}
	for i, name := range j {
		if name == "" || slices.Contains(j[:i], name) {
			return fmt.Errorf("parameter joints has %q as name %d, expected names that differ", name, i+1)
		}
	}
	return nil
}

// FromJointState reads angles q, rad, and rates v, rad/s, of the joints by their names, whatever their order and
// whatever other joints there are. It returns the stamp, ns. After an error q and v are of no use.
func (j Joints) FromJointState(m *sensormsgs.JointState, q, v []float64) (stamp int64, err error) {
	const most = 1000 // that a joint may have
	if stamp = Nanoseconds(m.Header.Stamp); stamp <= 0 {
		return 0, errors.New("the stamp is 0, expected when the joints were measured")
	}
	for i, name := range j {
		k := slices.Index(m.Name, name)
		switch {
		case k < 0:
			return 0, fmt.Errorf("there is no joint %q among %.200q", name, m.Name)
		case slices.Contains(m.Name[k+1:], name):
			return 0, fmt.Errorf("joint %q is there twice", name)
		case k >= len(m.Position) || k >= len(m.Velocity):
			return 0, fmt.Errorf("joint %q has no position or no velocity: of %d joints there are %d and %d", name,
				len(m.Name), len(m.Position), len(m.Velocity))
		}
		q[i], v[i] = m.Position[k], m.Velocity[k]
		if !(math.Abs(q[i]) < most && math.Abs(v[i]) < most) {
			return 0, fmt.Errorf("joint %q is at %.3g rad and turns with %.3g rad/s, expected less than %d of each",
				name, q[i], v[i], most)
		}
	}
	return stamp, nil
}

// PutJointState fills m with angles q, rad, rates v, rad/s, and torques tau, N·m.
func (j Joints) PutJointState(m *sensormsgs.JointState, stamp int64, q, v, tau []float64) {
	m.Header.Stamp = Time(stamp)
	m.Name = append(m.Name[:0], j...)
	m.Position, m.Velocity = append(m.Position[:0], q...), append(m.Velocity[:0], v...)
	m.Effort = append(m.Effort[:0], tau...)
}

// FromEfforts reads the torque of each joint, N·m, in the order of the joints.
func (j Joints) FromEfforts(m *stdmsgs.Float64MultiArray, tau []float64) error {
	if len(m.Data) != len(j) {
		return fmt.Errorf("%d numbers, expected %d: a torque of each joint", len(m.Data), len(j))
	}
	for i, x := range m.Data {
		if x*0 != 0 {
			return fmt.Errorf("the torque of joint %q is %g N·m, expected a finite number", j[i], x)
		}
	}
	copy(tau, m.Data)
	return nil
}
