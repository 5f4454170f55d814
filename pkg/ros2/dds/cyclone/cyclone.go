// Package cyclone implements package dds with Cyclone DDS 0.10. Samples of any type
// are bytes, through a sertype of our own. It publishes no type information.
//
// Listeners in C note what is ready; one goroutine waits for it in C. Open fails
// when the library at run time is of another series than the headers at compile
// time. With the build tag nocyclone, or without cgo, Open only returns an error.
package cyclone

import "vnd/pkg/ros2/dds"

// Config of a participant.
type Config struct {
	// Domain is the DDS domain, 0 to 232. Participants of one process that name
	// the same domain share its sockets and threads.
	Domain int
	// XML has the syntax of CYCLONEDDS_URI: XML, file names and file:// URIs,
	// separated by commas; "" is Cyclone DDS' defaults. The environment is not
	// used.
	XML string
	// UserData of the participant is sent to the others.
	UserData []byte
	// Security enables authentication and encryption, with the plugins that come
	// with Cyclone DDS; nil disables them.
	Security *dds.Security
	// Log gets the network interface in use and Cyclone DDS' warnings at the start;
	// it may be nil. Cyclone DDS writes later warnings to the standard error.
	Log func(line string)
}
