package ros_test

import (
	"time"

	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/ros"
)

// A node that says hello once a second: with this as its main function, ros2 node
// list and ros2 topic echo /chatter see it.
func ExampleMain() {
	ros.Main("talker", talk)
}

func talk(n *ros.Node) error {
	chatter, err := ros.NewPublisher[stdmsgs.String](n, "chatter", ros.DefaultQoS())
	if err != nil {
		return err
	}
	_, err = n.NewTimer(time.Second, func() {
		if err := chatter.Publish(&stdmsgs.String{Data: "hello"}); err != nil {
			n.Log().Error().Err(err).Send()
		}
	})
	return err
}
