// Package control is the control tick. The estimator turns motion capture into a state; the policy turns state, latent
// and reference into a command; the guard decides what goes out. It is for the node policy_controller, and for replays
// of what that flew.
//
// It imports neither messages nor clocks: times are handed in, in ns of one clock, so that the same input gives the
// same commands to the last bit.
package control

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/guard"
)

// Sources of the state, as the parameter state_source names them.
const (
	FromPose        = "pose"
	FromCovariance  = "pose_with_covariance"
	FromOdometry    = "odometry"
	FromNamedPoses  = "named_poses"
	FromRigidBodies = "rigid_bodies"
	FromMavros      = "mavros"
	FromPX4         = "px4"
)

// Config of a Loop.
type Config struct {
	Rate      float64          `param:"rate" default:"50.0" min:"10" max:"400" unit:"Hz" doc:"control ticks: a multiple of 1/Δt of the bundles that fly, so 50, 100, 150 … at a Δt of 0.02 s"`
	Source    string           `param:"state_source" default:"pose" enum:"pose,pose_with_covariance,odometry,named_poses,rigid_bodies,mavros,px4" doc:"pose, pose_with_covariance, named_poses, rigid_bodies: mocap/pose, mocap/pose_with_covariance, poses (motion_capture_tracking) or rigid_bodies (mocap4ros2) through the estimator; odometry, mavros, px4: mocap/odom, mavros/local_position/odom or fmu/out/vehicle_odometry as they come"`
	Filter    bool             `param:"state_filter" default:"true" doc:"the policy flies by poses, filtered and carried on to now by what was commanded; velocities come as they are"`
	LatentAge float64          `param:"latent_age" default:"0.1" min:"0.01" max:"10" unit:"s" doc:"age from which a latent is not used: the policy flies under the prior mean"`
	Limits    quad.Limits      `param:"limits" file:"airframe" doc:"what the airframe may be told"`
	Estimate  estimator.Params `param:"estimate" doc:"estimator of the state from poses"`
	Guard     guard.Config     `param:"guard" file:"airframe" doc:"of what a policy may do"`
}

// MeasuresVelocity reports whether samples of the source come with a velocity; else the estimator makes it.
func (c *Config) MeasuresVelocity() bool {
	return c.Source == FromOdometry || c.Source == FromMavros || c.Source == FromPX4
}

// FiltersPoses reports whether the policy flies by the filter of poses.
func (c *Config) FiltersPoses() bool { return c.Filter && !c.MeasuresVelocity() }

// Check refuses what New refuses.
func (c *Config) Check() error {
	_, err := New(*c)
	return err
}

// Period is the time between two ticks, ns.
func (c *Config) Period() int64 { return int64(math.Round(1e9 / c.Rate)) }

// Fence is the guard's box, m in the world.
func (c *Config) Fence() (lo, hi so3.Vec3) {
	v := func(x []float64) so3.Vec3 { return so3.Vec3{X: x[0], Y: x[1], Z: x[2]} }
	return v(c.Guard.FenceMin), v(c.Guard.FenceMax)
}

// MaxHandoverDistance is how far from the beginning of its task reference a robot may be handed over, m.
const MaxHandoverDistance = 1.0

// ReadyForHandover reports whether a policy whose task begins at a place (m in the world) can take over a robot: it
// flies, for no policy was trained to take off, and is near.
func (c *Config) ReadyForHandover(s *quad.State, at so3.Vec3) bool {
	return c.Guard.Flying(s) && at.Sub(s.P).Norm() <= MaxHandoverDistance
}

// Sample is a state from motion capture, or of another estimator.
type Sample struct {
	Stamp       int64 // ns
	State       quad.State
	HasVelocity bool // V is measured too
}

// Latent is an encoder's estimate of the condition. SetLatent copies Mean.
type Latent struct {
	Stamp   int64 // of the newest state behind it, ns
	Bundle  string
	Mean    []float32 // z[Z]
	Novelty float32   // 0 known … 1 unknown
}

// seconds is a time in the packages below: since the origin, so that float64 resolves it.
func seconds(ns, origin int64) float64 { return float64(ns-origin) / 1e9 }

// TicksPerRow is how many ticks at a rate (Hz) a row of Δt (s) lasts. The error is that of a parameter rate.
func TicksPerRow(rate, dt float64) (int, error) {
	n := math.Round(rate * dt)
	if n < 1 || math.Abs(rate*dt-n) > 1e-6*n {
		return 0, fmt.Errorf("parameter rate is %g Hz, expected a multiple of the %g Hz of a bundle with a Δt of %g s",
			rate, 1/dt, dt)
	}
	return int(n), nil
}
