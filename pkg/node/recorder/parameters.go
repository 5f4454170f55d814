package recorder

import (
	"vnd/pkg/learning/dataset"
	"vnd/pkg/ros2/bag/recording"
)

// Name of the node.
const Name = "transition_recorder"

// Params of the node.
type Params struct {
	Robot     string                  `param:"robot" default:"quadrotor" read_only:"true" doc:"name of the vehicle, for diagnostics"`
	Directory string                  `param:"directory" default:"vnd_data" read_only:"true" doc:"folder of the buffer (buffer/) and the bags (bags/)"`
	Topics    []string                `param:"topics" default:"mocap/pose,mocap/pose_with_covariance,mocap/odom,vio/odom,features,command,motors,imu,latent,bundle,learner/status,reference/path,battery,/diagnostics,/tf,/rosout,poses,rigid_bodies,mavros/local_position/odom,mavros/setpoint_raw/attitude,mavros/state,mavros/battery,joint_states,joint_group_effort_controller/commands,arm_step,push_step,fmu/out/vehicle_odometry,fmu/in/vehicle_rates_setpoint,fmu/out/vehicle_status,fmu/out/vehicle_status_v1,fmu/out/vehicle_status_v2,fmu/out/vehicle_status_v3,fmu/out/vehicle_status_v4,fmu/out/battery_status,fmu/out/battery_status_v1,detections" read_only:"true" doc:"topics to record besides step, once they are published, of any known type; add those of other motion capture systems, namespaces or versions"`
	Record    bool                    `param:"record" default:"true" read_only:"true" doc:"begin a bag at the start; ~/start begins one later"`
	Spread    string                  `param:"covariance_topic" default:"mocap/odom" read_only:"true" doc:"topic of states whose variance of the velocity lowers the confidence of rows; it has to be among topics"`
	Buffer    dataset.CollectorConfig `param:"buffer" doc:"buffer: the transitions to learn from"`
	Bag       recording.Config        `param:"bag" doc:"bags of the raw topics"`
}
