// Command talker is a whole ROS 2 node: it publishes a string every tenth of a second.
//
//	go run ./examples/talker
//	ros2 topic echo /chatter
package main

import (
	"fmt"
	"time"

	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/ros"
)

func main() { ros.Main("talker", talk) }

func talk(n *ros.Node) error {
	chatter, err := ros.NewPublisher[stdmsgs.String](n, "chatter", ros.DefaultQoS())
	if err != nil {
		return err
	}
	count := 0
	_, err = n.NewTimer(100*time.Millisecond, func() {
		count++
		text := fmt.Sprintf("hello %d", count)
		if err := chatter.Publish(&stdmsgs.String{Data: text}); err != nil {
			n.Log().Error().Err(err).Send()
			return
		}
		fmt.Println("published", text)
	})
	return err
}
