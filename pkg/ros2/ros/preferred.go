package ros

import "vnd/pkg/ros2/rmw"

// preferred is the backend of contexts that name none. Programs on rclgo are built with another file in the place of
// this
// one (rclgo/_overlay), and are otherwise the same.
func preferred(s Settings) (rmw.Context, error) { return Cyclone(s) }
