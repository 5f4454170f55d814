package node

import (
	"reflect"
	"testing"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
)

// TestQoSIsTheContracts holds the QoS of the topics to literal values.
func TestQoSIsTheContracts(t *testing.T) {
	for _, c := range []struct {
		topic     string
		got, want ros.QoS
	}{
		{"mocap", MocapQoS(), ros.QoS{Reliability: dds.BestEffort, Durability: dds.Volatile, Depth: 5}},
		{"autopilot", AutopilotQoS(), ros.QoS{Reliability: dds.BestEffort, Durability: dds.Volatile, Depth: 5}},
		{"command", CommandQoS(), ros.QoS{Reliability: dds.Reliable, Durability: dds.Volatile, Depth: 1}},
		{"step", StepQoS(), ros.QoS{Reliability: dds.Reliable, Durability: dds.Volatile, Depth: 50}},
		{"latent", LatentQoS(), ros.QoS{Reliability: dds.BestEffort, Durability: dds.Volatile, Depth: 1}},
		{"bundle", LatchedQoS(), ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 1}},
		{"buffer", BufferQoS(), ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 100}},
	} {
		t.Run(c.topic, func(t *testing.T) {
			if !reflect.DeepEqual(c.got, c.want) {
				t.Errorf("got %+v, want %+v", c.got, c.want)
			}
		})
	}
}
