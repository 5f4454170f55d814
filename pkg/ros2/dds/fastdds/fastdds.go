// Package fastdds implements package dds with Fast DDS 2.5 to 2.14. It is no part of the program:
// make build compiles the shared object libvnd_fastdds.so where Fast DDS is installed, and
// Open loads it. Samples of any type are bytes, over UDP.
//
// Fast DDS has one type of a topic in a participant, and announces no history.
package fastdds

import (
	"errors"

	"vnd/pkg/ros2/dds"
)

// Library is the file name of the shared object. It lies beside the program, or where the
// environment's VND_FASTDDS says.
const Library = "libvnd_fastdds.so"

// ErrMissing is in the error of Open where the shared object is not there.
var ErrMissing = errors.New("no backend of Fast DDS: apt-get install libfastrtps-dev g++, then make build")

// Config of a participant. A profile in XML that FASTRTPS_DEFAULT_PROFILES_FILE names
// (FASTDDS_DEFAULT_PROFILES_FILE from 2.12 on) takes the place of our transport.
type Config struct {
	Domain    int      // 0 to 232
	Localhost bool     // only this machine, over the loopback
	Alone     bool     // only participants of this process
	Unicast   bool     // no multicast
	Peers     []string // names or addresses to look at, beside multicast
	// UserData of the participant is sent to the others.
	UserData []byte
	// Security enables authentication and encryption; nil disables them.
	Security *dds.Security
	// Log gets the version and Fast DDS' errors at the start; it may be nil. Fast DDS
	// writes later errors to the standard error.
	Log func(line string)
}
