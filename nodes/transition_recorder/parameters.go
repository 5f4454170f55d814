package main

import (
	"vnd/pkg/collect"
	"vnd/pkg/recording"
)

// The parameter file holds every default.
//
//go:generate env VND_WRITE=1 go test -run ^TestParameterFile$ .

// name of the node.
const name = "transition_recorder"

// parameters of the node.
type parameters struct {
	Robot     string           `param:"robot" default:"quadrotor" read_only:"true" doc:"name of the vehicle, for diagnostics"`
	Directory string           `param:"directory" default:"vnd_data" read_only:"true" doc:"folder of the buffer (buffer/) and the bags (bags/)"`
	Topics    []string         `param:"topics" default:"mocap/pose,mocap/odom,command,latent,bundle,learner/status,reference/path,/diagnostics,/tf,/rosout" read_only:"true" doc:"topics that go into bags beside step, of any type that is known here; those of other motion capture or autopilots go here"`
	Record    bool             `param:"record" default:"true" read_only:"true" doc:"begin a bag at the start; ~/start begins one later"`
	Buffer    collect.Config   `param:"buffer" doc:"transitions to learn from"`
	Bag       recording.Config `param:"bag" doc:"raw topics"`
}
