package quadsim

import (
	"fmt"
	"math"
	"regexp"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/mavlink"
	"vnd/pkg/bridge/mavlink/lockstep"
	"vnd/pkg/bridge/px4/sitl"
	"vnd/pkg/core/quad"
	"vnd/pkg/sim"
)

// NewPX4 is PX4's firmware on a board in a world's vehicle, from where VND_PX4 says, with the settings of the guide. Of
// settings, written NAME=VALUE, each takes the place of ours of that name.
func NewPX4(w sim.World, settings []string) (*lockstep.Board, error) {
	binary, err := sitl.Binary()
	if err != nil {
		return nil, err
	}
	own, err := parseParameters(settings, oursOfPX4)
	if err != nil {
		return nil, err
	}
	all := append(append([]mavlink.Parameter{}, sitl.Simulated...), px4Parameters(&w)...)
	return sitl.NewBoard(binary, bridge.Throttle{Hover: hoverShare(&w)}, append(all, own...))
}

// oursOfPX4 are parameters that Throttle goes by.
var oursOfPX4 = regexp.MustCompile(`^(THR_MDL_FAC|MC_BAT_SCALE_EN|PWM_MAIN_.*)$`)

// parseParameters reads settings, but none that throttle goes by.
func parseParameters(settings []string, ours *regexp.Regexp) (all []mavlink.Parameter, err error) {
	for _, text := range settings {
		p, err := mavlink.ParseParameter(text)
		if err != nil {
			return nil, err
		}
		if ours.MatchString(p.Name) {
			return nil, fmt.Errorf("parameter %s: commands become throttle by it, expected another one", p.Name)
		}
		all = append(all, p)
	}
	return all, nil
}

// hoverShare is which share of the full thrust holds a world's vehicle.
func hoverShare(w *sim.World) float64 {
	return w.Airframe.Mass * quad.Gravity / (4 * w.Motor.Thrust / w.Motor.Gain)
}

// px4Parameters are those of the guide, and gains of the rate loop: an error turns the vehicle by gain 1/s, with a lead
// that makes up for the motors' lag.
func px4Parameters(w *sim.World) []mavlink.Parameter {
	hover := hoverShare(w)
	of := func(name string, value float64) mavlink.Parameter {
		return mavlink.Parameter{Name: name, Value: float64(float32(value))}
	}
	all := []mavlink.Parameter{
		of("THR_MDL_FAC", w.Motor.Curve), of("MPC_THR_HOVER", hover), of("MPC_THR_MIN", hover/4),
		of("COM_OF_LOSS_T", 0.5), of("COM_OBL_RC_ACT", 4), of("EKF2_EV_CTRL", 15), of("EKF2_HGT_REF", 3),
		of("IMU_GYRO_CUTOFF", 80), of("IMU_DGYRO_CUTOFF", 40),
	}
	a := &w.Airframe
	for i, at := range [...][3]float64{{1, 1, 1}, {-1, -1, 1}, {1, -1, -1}, {-1, 1, -1}} { // forward, right, torque
		rotor := func(name string, value float64) mavlink.Parameter {
			return of(fmt.Sprintf("CA_ROTOR%d_%s", i, name), value)
		}
		all = append(all, rotor("PX", at[0]*a.ArmX), rotor("PY", at[1]*a.ArmY), rotor("KM", at[2]*w.Motor.Torque))
	}
	// A roll or pitch of 1 is √½ of the full thrust more on one side, where the arm is the shorter one, and √½ less on
	// the other. A yaw of 1 is all of it.
	tilt := 4 * math.Sqrt2 / 2 * w.Motor.Thrust * min(a.ArmX, a.ArmY) // N·m
	turn := [3]float64{tilt / a.Inertia[0], tilt / a.Inertia[1], 4 * w.Motor.Thrust * w.Motor.Torque / a.Inertia[2]}
	for i, axis := range [...]string{"ROLL", "PITCH", "YAW"} {
		gain, lead := 25., w.Motor.Lag // 1/s, s
		if axis == "YAW" {
			gain, lead = 12, 0 // the rotors' own inertia leads
		}
		p := gain / turn[i]
		all = append(all, of("MC_"+axis+"RATE_P", p), of("MC_"+axis+"RATE_I", p), of("MC_"+axis+"RATE_D", p*lead))
	}
	return all
}
