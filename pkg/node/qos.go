// Package node holds what the nodes of the flight path share. A node is a component: one process may have several. It
// has parameters, topics and services around the packages that do the work. Each node's main has one of them made on
// its process' context.
package node

import (
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
)

// The QoS of the nodes' topics, which docs/guide/nodes.md lists. Nobody waits for a reader: where one does not keep up,
// the newest counts.

// MocapQoS is best effort, volatile, depth 5: of states, from motion capture or an estimator.
func MocapQoS() ros.QoS { return ros.SensorDataQoS() }

// ImuQoS is best effort, volatile, depth 200: of an IMU, whose samples come faster than they may be taken one by one.
func ImuQoS() ros.QoS {
	return ros.QoS{Reliability: dds.BestEffort, Durability: dds.Volatile, Depth: 200}
}

// AutopilotQoS is best effort, volatile, depth 5: of what an autopilot reports, and of batteries.
func AutopilotQoS() ros.QoS { return ros.SensorDataQoS() }

// CommandQoS is reliable, volatile, depth 1.
func CommandQoS() ros.QoS {
	return ros.QoS{Reliability: dds.Reliable, Durability: dds.Volatile, Depth: 1}
}

// StepQoS is reliable, volatile, depth 50.
func StepQoS() ros.QoS {
	return ros.QoS{Reliability: dds.Reliable, Durability: dds.Volatile, Depth: 50}
}

// LatentQoS is best effort, volatile, depth 1.
func LatentQoS() ros.QoS {
	return ros.QoS{Reliability: dds.BestEffort, Durability: dds.Volatile, Depth: 1}
}

// LatchedQoS is reliable, transient local, depth 1: of bundle, reference/path and what else stays true.
func LatchedQoS() ros.QoS {
	return ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 1}
}

// BufferQoS is reliable, transient local, depth 100: of the newest segments of the buffer.
func BufferQoS() ros.QoS {
	return ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 100}
}

// Topics of arms, the first two as ros2_control names them. ArmStep has StepQoS.
const (
	JointStates   = "joint_states"
	JointEfforts  = "joint_group_effort_controller/commands"
	ReferencePose = "reference/pose"
	ArmStep       = "arm_step"
)

// Topics of a pushed box. Poses have MocapQoS, PushStep has StepQoS, the others CommandQoS.
const (
	BoxPose   = "box/pose"
	ToolPose  = "tool/pose"
	GoalPose  = "goal/pose"
	ToolTwist = "tool/twist"
	PushStep  = "push_step"
)

// JointStatesQoS is reliable, volatile, depth 1: as joint_state_broadcaster of ros2_control offers them.
func JointStatesQoS() ros.QoS { return CommandQoS() }
