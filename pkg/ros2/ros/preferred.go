package ros

import "vnd/pkg/ros2/rmw"

// preferred is the default backend. Programs on rclgo are built with another file in place
// of this one (rclgo/_overlay).
func preferred(s Settings) (rmw.Context, error) { return ByEnvironment(s) }
