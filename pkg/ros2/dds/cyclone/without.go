//go:build !cgo || nocyclone

package cyclone

import (
	"errors"

	"vnd/pkg/ros2/dds"
)

// Open returns an error: this build has no Cyclone DDS.
func Open(Config) (dds.Participant, error) {
	return nil, errors.New("built without Cyclone DDS: no ROS 2 on the wire; " +
		"build with cgo and without the tag nocyclone")
}
