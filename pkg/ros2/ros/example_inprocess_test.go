package ros_test

import (
	"context"
	"fmt"
	"log"

	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
)

// Publisher and subscription in one process, as in a test: no network, no C.
func ExampleNewSubscription() {
	n, stop := node("listener")
	defer stop()
	ctx, enough := context.WithCancel(context.Background())
	_, err := ros.NewSubscription(n, "chatter", ros.DefaultQoS(), func(m *stdmsgs.String, _ ros.Info) {
		fmt.Println(m.Data)
		enough()
	})
	if err != nil {
		log.Fatal(err)
	}
	chatter, err := ros.NewPublisher[stdmsgs.String](n, "chatter", ros.DefaultQoS())
	if err != nil {
		log.Fatal(err)
	}
	if err := ros.WaitForMatched(ctx, chatter, 1); err != nil {
		log.Fatal(err)
	}
	if err := chatter.Publish(&stdmsgs.String{Data: "hello"}); err != nil {
		log.Fatal(err)
	}
	if err := n.Context().Spin(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: hello
}

// A service that refuses, and its client. Callbacks run meanwhile.
func ExampleNewService() {
	n, stop := node("guard")
	defer stop()
	_, err := ros.NewService(n, "~/reset", func(_ *stdsrvs.TriggerRequest, answer *stdsrvs.TriggerResponse) {
		answer.Message = "still falling"
	})
	if err != nil {
		log.Fatal(err)
	}
	reset, err := ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](n, "guard/reset")
	if err != nil {
		log.Fatal(err)
	}
	ctx, enough := context.WithCancel(context.Background())
	go n.Context().Spin(ctx)
	defer enough()
	if err := reset.WaitForService(ctx); err != nil {
		log.Fatal(err)
	}
	answer, err := reset.Call(ctx, &stdsrvs.TriggerRequest{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Success, answer.Message)
	// Output: false still falling
}

// node is one in a graph of its own.
func node(name string) (n *ros.Node, stop func() error) {
	c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs"},
		Backend: ros.InProcess(inproc.NewDomain())})
	if err != nil {
		log.Fatal(err)
	}
	if n, err = c.NewNode(name); err != nil {
		log.Fatal(err)
	}
	return n, c.Close
}
