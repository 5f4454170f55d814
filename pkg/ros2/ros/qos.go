package ros

import "vnd/pkg/ros2/rmw"

// QoS of a publisher, subscription or service.
type QoS = rmw.QoS

// DefaultQoS is reliable, volatile, keep last 10.
func DefaultQoS() QoS { return rmw.DefaultQoS() }

// SensorDataQoS is best effort, volatile, keep last 5.
func SensorDataQoS() QoS { return rmw.SensorDataQoS() }

// ServicesQoS is what services and clients have by default.
func ServicesQoS() QoS { return rmw.ServicesQoS() }
