package bridge

import (
	"math"
	"slices"
	"strings"
	"testing"

	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
)

// twoJoints is a message of joints in another order than theirs, with a third one between.
func twoJoints() (Joints, *sensormsgs.JointState) {
	m := &sensormsgs.JointState{Name: []string{"b", "finger", "a"}, Position: []float64{2, 9, 1},
		Velocity: []float64{0.2, 9, 0.1}}
	m.Header.Stamp.Sec = 5
	return Joints{"a", "b"}, m
}

func TestJointsAreMatchedByName(t *testing.T) {
	j, m := twoJoints()
	q, v := make([]float64, 2), make([]float64, 2)
	stamp, err := j.FromJointState(m, q, v)
	if err != nil || stamp != 5e9 || !slices.Equal(q, []float64{1, 2}) || !slices.Equal(v, []float64{0.1, 0.2}) {
		t.Errorf("at %d: %v, %v, %v", stamp, q, v, err)
	}
	var back sensormsgs.JointState
	j.PutJointState(&back, stamp, q, v, q)
	if back.Header.Stamp != m.Header.Stamp || !slices.Equal(back.Name, j) || !slices.Equal(back.Position, q) ||
		!slices.Equal(back.Velocity, v) || !slices.Equal(back.Effort, q) {
		t.Errorf("%+v", back)
	}
}

func TestJointStatesAreRefused(t *testing.T) {
	for want, spoil := range map[string]func(*sensormsgs.JointState){
		"the stamp is 0":                       func(m *sensormsgs.JointState) { m.Header.Stamp.Sec = 0 },
		`there is no joint "a" among ["b" "f`:  func(m *sensormsgs.JointState) { m.Name = m.Name[:2] },
		`joint "b" is there twice`:             func(m *sensormsgs.JointState) { m.Name[1] = "b" },
		`joint "a" has no position or no velo`: func(m *sensormsgs.JointState) { m.Velocity = nil },
		`joint "a" is at NaN rad and turns wi`: func(m *sensormsgs.JointState) { m.Position[2] = math.NaN() },
		"turns with -Inf rad/s, expected less": func(m *sensormsgs.JointState) { m.Velocity[0] = math.Inf(-1) },
		"turns with 1e+300 rad/s, expected le": func(m *sensormsgs.JointState) { m.Velocity[2] = 1e300 },
	} {
		j, m := twoJoints()
		spoil(m)
		if _, err := j.FromJointState(m, make([]float64, 2), make([]float64, 2)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestEffortsAreRefused(t *testing.T) {
	tau := make([]float64, 2)
	for want, data := range map[string][]float64{"3 numbers, expected 2": {1, 2, 3},
		`joint "b" is NaN`: {1, math.NaN()}} {
		if err := (Joints{"a", "b"}).FromEfforts(&stdmsgs.Float64MultiArray{Data: data}, tau); err == nil ||
			!strings.Contains(err.Error(), want) || tau[0] != 0 {
			t.Errorf("got %v, want %q; %v", err, want, tau)
		}
	}
	if err := (Joints{"a", "b"}).FromEfforts(&stdmsgs.Float64MultiArray{Data: []float64{1, 2}}, tau); err != nil ||
		tau[1] != 2 {
		t.Error(tau, err)
	}
}

func TestJointNamesDiffer(t *testing.T) {
	for want, j := range map[string]Joints{"1 names, expected 2": {"a"}, `"a" as name 2`: {"a", "a"},
		`"" as name 1`: {"", "a"}} {
		if err := j.Check(2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
