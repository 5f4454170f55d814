// Package node holds what the nodes of the flight path share. A node is a component: one process may have several. It
// has parameters, topics and services around the packages that do the work. Each node's main has one of them made on
// its process' context.
package node

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"vnd/msgs"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/vnd/bundle"
)

// The QoS of the nodes' topics, which docs/guide/nodes.md lists. Nobody waits for a reader: where one does not keep up,
// the newest counts.

// MocapQoS is best effort, volatile, depth 5.
func MocapQoS() ros.QoS { return ros.SensorDataQoS() }

// CommandQoS is reliable, volatile, depth 1.
func CommandQoS() ros.QoS { return ros.QoS{Reliability: dds.Reliable, Depth: 1} }

// StepQoS is reliable, volatile, depth 50.
func StepQoS() ros.QoS { return ros.QoS{Reliability: dds.Reliable, Depth: 50} }

// LatentQoS is best effort, volatile, depth 1.
func LatentQoS() ros.QoS { return ros.QoS{Depth: 1} }

// LatchedQoS is reliable, transient local, depth 1: of bundle, reference/path and what else stays true.
func LatchedQoS() ros.QoS {
	return ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 1}
}

// Unpack reads the bundle in a message, which must be what the message says that it is.
func Unpack(m *msgs.Bundle) (*bundle.Bundle, error) {
	name := fmt.Sprintf("bundle %.40q", m.ID)
	switch sum := sha256.Sum256(m.Data); {
	case len(m.Data) > bundle.MaxSize:
		return nil, fmt.Errorf("%s: %d bytes, expected at most %d", name, len(m.Data), bundle.MaxSize)
	case !bytes.Equal(sum[:], m.Sha256[:]):
		return nil, fmt.Errorf("%s: the SHA-256 of its %d bytes is %x, the message says %x", name, len(m.Data), sum[:4],
			m.Sha256[:4])
	}
	b, err := bundle.Decode(name, m.Data)
	if err != nil {
		return nil, err
	}
	for _, x := range []struct{ field, says, is string }{{"id", m.ID, b.ID}, {"robot", m.Robot, b.Robot},
		{"task", m.Task, b.Task}} {
		if x.says != x.is {
			return nil, fmt.Errorf("%s: its %s is %.40q, the message says %.40q", name, x.field, x.is, x.says)
		}
	}
	return b, nil
}
