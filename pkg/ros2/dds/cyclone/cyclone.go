// Package cyclone is Cyclone DDS 0.10 behind the interface of package dds: bytes
// of any type, through a sertype of our own. It publishes no type information.
//
// Listeners in C note what is ready; one goroutine waits for it in C. It is
// written for the series of Cyclone DDS that it is compiled with, and says so when
// it finds another at run time. With the build tag nocyclone, or without cgo, Open
// only returns an error.
package cyclone

import "vnd/pkg/ros2/dds"

// Config of a participant.
type Config struct {
	// Domain is the DDS domain, 0 to 232. Participants of one process that name
	// the same domain share its sockets and threads.
	Domain int
	// XML is what CYCLONEDDS_URI may hold: XML, or names of files or file:// URIs,
	// several with commas between; "" is Cyclone DDS' defaults. The environment is
	// not looked at.
	XML string
	// UserData tells the others of the participant.
	UserData []byte
	// Security has the participant authenticate itself and encrypt, with the plugins
	// that come with Cyclone DDS; nil to speak openly.
	Security *dds.Security
	// Log is told which network interface is used, and what Cyclone DDS warns of
	// while it starts; may be nil. Later warnings go to the standard error, as
	// Cyclone DDS has it.
	Log func(line string)
}
