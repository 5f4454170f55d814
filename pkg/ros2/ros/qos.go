package ros

import (
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// QoS of a publisher, subscription or service.
type QoS = rmw.QoS

// DefaultQoS is reliable, volatile, keep last 10.
func DefaultQoS() QoS { return rmw.DefaultQoS() }

// SensorDataQoS is best effort, volatile, keep last 5.
func SensorDataQoS() QoS { return rmw.SensorDataQoS() }

// LatchedQoS is reliable and transient local: later subscriptions get the last messages, as many as depth.
func LatchedQoS(depth int) QoS {
	q := rmw.DefaultQoS()
	q.Durability, q.Depth = dds.TransientLocal, depth
	return q
}

// ServicesQoS is what services and clients have by default.
func ServicesQoS() QoS { return rmw.ServicesQoS() }
