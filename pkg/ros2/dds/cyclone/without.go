//go:build !cgo || nocyclone

package cyclone

import (
	"errors"

	"vnd/pkg/ros2/dds"
)

// Open says why there is no Cyclone DDS here.
func Open(Config) (dds.Participant, error) {
	return nil, errors.New("built without Cyclone DDS: no ROS 2 on the wire; " +
		"build with cgo and without the tag nocyclone")
}
