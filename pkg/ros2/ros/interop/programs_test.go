// Package interop tests pkg/ros2/ros against other implementations: the tools and libraries of
// a real ROS 2, other DDS implementations, and a dissector of packets. make interop runs it
// and reports which of these are missing.
package interop

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/tf"
)

// programVariable selects the program that the test binary runs.
const programVariable = "VND_INTEROP_PROGRAM"

var programs = map[string]func(){
	"talker":  func() { ros.Main("talker", talker) },
	"lc":      managed,
	"frames":  func() { ros.Main("frames", frames) },
	"counter": func() { ros.Main("counter", counter) },
	"caller":  func() { ros.Main("caller", caller) },
}

func TestMain(m *testing.M) {
	if program := programs[os.Getenv(programVariable)]; program != nil {
		program()
		return
	}
	os.Exit(m.Run())
}

// tuning holds the parameters of the talker.
type tuning struct {
	Gain float64 `param:"gain" default:"1.5" min:"0" max:"10" doc:"of the position loop" unit:"1/s"`
	Name string  `param:"name" default:"cf" doc:"of the vehicle"`
}

// talker is the node of the recorded transcripts: a counter as text and as poses at 10 Hz,
// commands by topic, two services, three parameters.
func talker(n *ros.Node) error {
	if _, err := params.Bind[tuning](n.Parameters(), nil); err != nil {
		return err
	}
	if _, err := n.Parameters().Declare("ids", []int64{1, 2, 3},
		params.Descriptor{Description: "of the vehicles"}); err != nil {
		return err
	}
	chatter, err := ros.NewPublisher[stdmsgs.String](n, "chatter", ros.DefaultQoS())
	if err != nil {
		return err
	}
	pose, err := ros.NewPublisher[geometrymsgs.PoseStamped](n, "pose", ros.DefaultQoS())
	if err != nil {
		return err
	}
	if _, err := ros.NewSubscription(n, "cmd", ros.DefaultQoS(), func(m *stdmsgs.String, _ ros.Info) {
		n.Log().Info().Msgf("cmd %s", m.Data)
	}); err != nil {
		return err
	}
	if err := talkerServices(n); err != nil {
		return err
	}
	count := 0
	_, err = n.NewTimer(100*time.Millisecond, func() {
		count++
		m := geometrymsgs.PoseStamped{Header: stdmsgs.Header{Stamp: n.Now().Msg(), FrameID: "map"}}
		m.Pose.Position.X, m.Pose.Orientation.W = float64(count), 1
		err := chatter.Publish(&stdmsgs.String{Data: fmt.Sprint("n", count)})
		if err == nil {
			err = pose.Publish(&m)
		}
		if err != nil {
			n.Log().Error().Err(err).Send()
		}
	})
	return err
}

func talkerServices(n *ros.Node) error {
	if _, err := ros.NewService(n, "arm", func(q *stdsrvs.SetBoolRequest, r *stdsrvs.SetBoolResponse) {
		r.Success, r.Message = q.Data, "armed"
	}); err != nil {
		return err
	}
	_, err := ros.NewService(n, "kick", func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
		n.Log().Warn().Msg("kicked")
		r.Success = true
	})
	return err
}

// managed is a managed node that publishes while it is active.
func managed() {
	ros.MainContext(ros.Options{Args: os.Args[1:]}, func(_ context.Context, c *ros.Context) error {
		_, err := c.NewLifecycleNode("lc", ros.Callbacks{})
		return err
	})
}

// frames publishes transforms, diagnostics and a best-effort topic.
func frames(n *ros.Node) error {
	static, err := tf.NewStaticBroadcaster(n)
	if err != nil {
		return err
	}
	moving, err := tf.NewBroadcaster(n)
	if err != nil {
		return err
	}
	if _, err := diagnostics.New(n, "cf2"); err != nil {
		return err
	}
	if _, err := ros.NewPublisher[stdmsgs.String](n, "imu", ros.SensorDataQoS()); err != nil {
		return err
	}
	if err := static.Send(frame("base_link", "imu", geometrymsgs.Vector3{Z: 0.02})); err != nil {
		return err
	}
	_, err = n.NewTimer(100*time.Millisecond, func() {
		t := frame("map", "base_link", geometrymsgs.Vector3{X: float64(n.Now()%1e9) / 1e9})
		t.Header.Stamp = n.Now().Msg()
		if err := moving.Send(t); err != nil {
			n.Log().Error().Err(err).Send()
		}
	})
	return err
}

func frame(parent, child string, at geometrymsgs.Vector3) geometrymsgs.TransformStamped {
	return geometrymsgs.TransformStamped{Header: stdmsgs.Header{FrameID: parent}, ChildFrameID: child,
		Transform: geometrymsgs.Transform{Translation: at, Rotation: geometrymsgs.Quaternion{W: 1}}}
}
