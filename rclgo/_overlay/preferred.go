package ros

import (
	"vnd/pkg/ros2/rmw"
	"vnd/rclgo/overrcl"
)

// preferred joins the graph through rcl and rclgo, which read the process' environment themselves.
func preferred(s Settings) (rmw.Context, error) {
	return overrcl.Open(overrcl.Options{Enclave: s.enclave()})
}
