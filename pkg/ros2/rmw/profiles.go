package rmw

import (
	"time"

	"vnd/pkg/ros2/dds"
)

// The QoS profiles of ROS' own endpoints, from rmw/qos_profiles.h and from rclcpp, rclpy
// and tf2_ros of Humble. Those marked [L] were also seen on the wire of a running
// Humble. Later distributions kept all of them.
//
// Reliable profiles block without limit, as in ROS. A publisher that must not block sets
// MaxBlocking, which plays no part in matching.

// reliable is keep last depth, reliable and volatile.
func reliable(depth int) QoS {
	return QoS{Reliability: dds.Reliable, MaxBlocking: dds.Infinite, Depth: depth}
}

// latched is reliable and transient local: later subscriptions get the last messages.
func latched(depth int) QoS {
	q := reliable(depth)
	q.Durability = dds.TransientLocal
	return q
}

// DefaultQoS is rmw_qos_profile_default [L].
func DefaultQoS() QoS { return reliable(10) }

// ServicesQoS is rmw_qos_profile_services_default, of both ends [L]. Actions use
// it for their three services.
func ServicesQoS() QoS { return reliable(10) }

// SensorDataQoS is rmw_qos_profile_sensor_data.
func SensorDataQoS() QoS { return QoS{Depth: 5} }

// ParametersQoS is rmw_qos_profile_parameters, of both ends of the six parameter
// services [L].
func ParametersQoS() QoS { return reliable(1000) }

// ParameterEventsQoS is rmw_qos_profile_parameter_events, of /parameter_events
// [L].
func ParameterEventsQoS() QoS { return reliable(1000) }

// RosoutQoS is rcl_qos_profile_rosout_default (rcl/logging_rosout.h), of
// /rosout [L].
func RosoutQoS() QoS {
	q := latched(1000)
	q.Lifespan = 10 * time.Second
	return q
}

// ClockQoS is rclcpp::ClockQoS [L], of the subscription of /clock by a node on simulated
// time. It matches every publisher.
func ClockQoS() QoS { return QoS{Depth: 1} }

// TFQoS is tf2_ros' DynamicBroadcasterQoS and DynamicListenerQoS, of /tf.
func TFQoS() QoS { return reliable(100) }

// StaticTFBroadcasterQoS is tf2_ros' StaticBroadcasterQoS, of /tf_static.
func StaticTFBroadcasterQoS() QoS { return latched(1) }

// StaticTFListenerQoS is tf2_ros' StaticListenerQoS, of /tf_static.
func StaticTFListenerQoS() QoS { return latched(100) }

// ActionStatusQoS is rcl_action_qos_profile_status_default
// (rcl_action/default_qos.h), of an action's status topic.
func ActionStatusQoS() QoS { return latched(1) }
