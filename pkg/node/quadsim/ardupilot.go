package quadsim

import (
	"regexp"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/ardupilot/sitl"
	"vnd/pkg/bridge/mavlink"
	"vnd/pkg/bridge/mavlink/lockstep"
	"vnd/pkg/sim"
)

// spinOf has ArduPilot's defaults for the range, MOT_SPIN_MIN and MOT_SPIN_MAX, and the MOT_THST_EXPO by which thrust
// of a motor whose curve is known grows in proportion to throttle.
func spinOf(curve float64) bridge.Spin {
	const least, most = 0.15, 0.95
	square, linear := curve*(most-least), 1-curve+2*curve*least
	return bridge.Spin{Min: least, Max: most, Expo: square / (square + linear)}
}

// throttleOf is how a board's throttle becomes thrust in a world's vehicle.
func throttleOf(w *sim.World, s bridge.Spin) bridge.Throttle {
	share := hoverShare(w)
	idle, full := w.Motor.Share(s.Min), w.Motor.Share(s.Max)
	return bridge.Throttle{Hover: (share - idle) / (full - idle), Least: idle / share}
}

// NewArdupilot is ArduPilot Copter's firmware on a board in a world's vehicle, from where VND_ARDUPILOT says, with the
// settings of the guide. Of settings, written NAME=VALUE, each takes the place of ours of that name.
func NewArdupilot(w sim.World, settings []string) (*lockstep.Board, error) {
	binary, err := sitl.Binary()
	if err != nil {
		return nil, err
	}
	own, err := parseParameters(settings, oursOfArdupilot)
	if err != nil {
		return nil, err
	}
	s := spinOf(w.Motor.Curve)
	all := append(append([]mavlink.Parameter{}, sitl.Simulated...), ardupilotParameters(&w, s)...)
	return sitl.NewBoard(binary, throttleOf(&w, s), append(all, own...))
}

// oursOfArdupilot are parameters that throttleOf goes by.
var oursOfArdupilot = regexp.MustCompile(`^MOT_(SPIN_MIN|SPIN_MAX|THST_EXPO|PWM_M..)$`)

// ardupilotParameters are those of the guide, and gains: an error of a rate turns the vehicle by gain 1/s, with a lead
// that makes up for the motors' lag. Errors of the angle do so by default.
func ardupilotParameters(w *sim.World, s bridge.Spin) []mavlink.Parameter {
	all := []mavlink.Parameter{
		{Name: "GUID_OPTIONS", Value: 8}, {Name: "GUID_TIMEOUT", Value: 0.1}, {Name: "ATC_ANGLE_BOOST", Value: 0},
		{Name: "ATC_ACCEL_R_MAX", Value: 0}, {Name: "ATC_ACCEL_P_MAX", Value: 0}, {Name: "ATC_ACCEL_Y_MAX", Value: 0},
		{Name: "MOT_SPIN_MIN", Value: s.Min}, {Name: "MOT_SPIN_MAX", Value: s.Max},
		{Name: "MOT_THST_EXPO", Value: s.Expo},
	}
	// A roll of 1 is half of the full thrust more on one side, and half less on the other.
	thrust := w.Motor.Share(s.Max) - w.Motor.Share(s.Min)
	force := 2 * thrust * w.Motor.Thrust // N, of four motors at a half each
	inertia := w.Airframe.Inertia
	turn := [3]float64{force * w.Airframe.ArmY / inertia[0], force * w.Airframe.ArmX / inertia[1],
		force * w.Motor.Torque / inertia[2]} // rad/s² of 1
	const tilt, yaw = 25, 12 // 1/s
	for i, axis := range [...]string{"RLL", "PIT", "YAW"} {
		gain := float64(tilt)
		lead := w.Motor.Lag
		if axis == "YAW" {
			gain, lead = yaw, 0 // the rotors' own inertia leads
		}
		p := gain / turn[i]
		of := func(name string, value float64) mavlink.Parameter {
			return mavlink.Parameter{Name: "ATC_RAT_" + axis + "_" + name, Value: float64(float32(value))}
		}
		all = append(all, of("P", p), of("I", p), of("D", p*lead), of("FLTT", 0), of("FLTD", 40), of("FLTE", 0))
	}
	return append(all, mavlink.Parameter{Name: "INS_GYRO_FILTER", Value: 80})
}
