package stateestimator

import (
	"vnd/pkg/bridge"
	"vnd/pkg/flight/inertial"
)

// Name of the node.
const Name = "state_estimator"

// Types of the poses.
const (
	poses      = "pose"
	covariance = "pose_with_covariance"
	odometry   = "odometry"
)

// Params of the node, read at its start.
type Params struct {
	PoseType string `param:"pose_type" default:"pose" enum:"pose,pose_with_covariance,odometry" read_only:"true" doc:"mocap/pose, mocap/pose_with_covariance, or vio/odom without its twist"`

	Rate       float64 `param:"rate" default:"100.0" min:"10" max:"1000" unit:"Hz" read_only:"true" doc:"states on mocap/odom, at most"`
	MocapFrame string  `param:"mocap_frame" default:"auto" enum:"auto,enu,ned" read_only:"true" doc:"axes of the poses; auto: ned where the frame's name ends in _ned, else enu"`
	WorldFrame string  `param:"world_frame" default:"" read_only:"true" doc:"name of the world's frame in what is published; empty takes that of the poses"`
	BodyFrame  string  `param:"body_frame" default:"base_link" read_only:"true" doc:"name of the body's frame in what is published"`
	inertial.Params
}

// poseTopic is the topic and type of the poses.
func (p *Params) poseTopic() (topic, typeName string) {
	switch p.PoseType {
	case covariance:
		return "mocap/pose_with_covariance", bridge.TypePoseWithCovariance
	case odometry:
		return "vio/odom", bridge.TypeOdometry
	}
	return "mocap/pose", bridge.TypePoseStamped
}
