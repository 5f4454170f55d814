package inertial

import (
	"fmt"

	"vnd/pkg/core/param"
	"vnd/pkg/core/so3"
)

// Noise is what the sensors err by, as an Allan deviation tells: densities of white noise, and of the biases' walks.
type Noise struct {
	Gyro      float64 `param:"gyro" default:"0.0005" min:"1e-6" max:"1" unit:"rad/s/√Hz" doc:"density of the gyroscope's noise, vibrations included"`
	Accel     float64 `param:"accel" default:"0.01" min:"1e-5" max:"10" unit:"m/s²/√Hz" doc:"density of the accelerometer's noise, vibrations included"`
	GyroWalk  float64 `param:"gyro_walk" default:"0.00002" min:"0" max:"1" unit:"rad/s²/√Hz" doc:"random walk of the gyroscope's bias"`
	AccelWalk float64 `param:"accel_walk" default:"0.003" min:"0" max:"10" unit:"m/s³/√Hz" doc:"random walk of the accelerometer's bias"`
	Position  float64 `param:"position" default:"0.003" min:"1e-5" max:"1" unit:"m" doc:"standard deviation of a pose's coordinate; a message's own counts where it is more"`
	Attitude  float64 `param:"attitude" default:"0.01" min:"1e-4" max:"1" unit:"rad" doc:"standard deviation of a pose's turn about each axis; a message's own counts where it is more"`
	Drift     float64 `param:"drift" default:"0.0" min:"0" max:"1" unit:"m/√s" doc:"random walk of the source of poses itself, as visual odometry has it"`
}

// Params of an Estimator.
type Params struct {
	Noise        Noise     `param:"noise" doc:"what the sensors err by"`
	Delay        float64   `param:"delay" default:"0.0" min:"-0.3" max:"0.3" unit:"s" doc:"by which poses are older than their stamps say"`
	DelaySpread  float64   `param:"delay_spread" default:"0.0" min:"0" max:"0.1" unit:"s" doc:"standard deviation of that delay at the start: it is estimated; 0: it is as delay says"`
	Gate         float64   `param:"gate" default:"30.0" min:"10" max:"1000" doc:"squared Mahalanobis distance from which a pose is not believed; one in 10,000 is beyond 27.9"`
	JumpAfter    float64   `param:"jump_after" default:"0.15" min:"0.02" max:"2" unit:"s" doc:"time for which poses have to agree elsewhere, three of them at least, to count as a jump of their source"`
	Return       float64   `param:"jump_return" default:"0.03" min:"0" max:"1" unit:"m/s" doc:"speed with which the frame comes back to that of the poses after a jump; 0: never"`
	MaxReckoning float64   `param:"max_reckoning" default:"0.6" min:"0.05" max:"10" unit:"s" doc:"time without a believed pose after which there is no state"`
	Mount        []float64 `param:"imu_place" default:"0,0,0" min:"-10" max:"10" unit:"m" doc:"place of the IMU in the body whose poses come: x, y, z"`
	Turn         []float64 `param:"imu_attitude" default:"0,0,0" min:"-3.15" max:"3.15" unit:"rad" doc:"attitude of the IMU in that body: roll, pitch, yaw; 3.14159,0,0 where its z axis points down"`
}

// DefaultParams returns the defaults that the tags of Params declare.
func DefaultParams() (p Params) {
	param.Default(&p)
	return p
}

func (p *Params) check() error {
	if len(p.Mount) != 3 || len(p.Turn) != 3 {
		return fmt.Errorf("parameters imu_place and imu_attitude have %d and %d numbers, expected x, y, z and roll, "+
			"pitch, yaw",
			len(p.Mount), len(p.Turn))
	}
	return nil
}

func (p *Params) mount() so3.Vec3 { return so3.Vec3{X: p.Mount[0], Y: p.Mount[1], Z: p.Mount[2]} }

func (p *Params) turn() so3.Quat { return so3.FromEuler(p.Turn[0], p.Turn[1], p.Turn[2]) }
