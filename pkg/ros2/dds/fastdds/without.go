//go:build !cgo

package fastdds

import (
	"errors"

	"vnd/pkg/ros2/dds"
)

// Open returns an error: Fast DDS takes a build with C.
func Open(Config) (dds.Participant, error) {
	return nil, errors.New("built without C, so without Fast DDS; build with cgo")
}

// Installed returns why Open would not find Fast DDS, or nil.
func Installed() error { return errors.New("built without C, so without Fast DDS") }

// Unlike returns "": nothing here has keys.
func Unlike() string { return "" }
