package node

import (
	"slices"

	"vnd/pkg/bridge"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// MotorsTopic is where commands of each motor go out.
const MotorsTopic = "motors"

// ByMotors says what becomes of steps while somebody commands motors.
const ByMotors = "the vehicle is flown by its motors, whose steps are not learned from: they hold what the motors " +
	"come to. vnd import BAG --out F.csv takes motors, imu, poses and battery out of a bag, for vnd rotors fit"

// FlownByMotors reports whether a controller commands each motor by a topic. Its steps have thrust and body rates that
// come to the same.
func FlownByMotors(n *ros.Node, topic string) bool {
	full, err := n.ResolveTopic(topic)
	return err == nil && slices.ContainsFunc(n.Context().Graph().Publishers(full), func(e rmw.Endpoint) bool {
		return e.Type == bridge.TypeActuators
	})
}
