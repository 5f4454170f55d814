package logs

import (
	"bytes"
	"fmt"
	"io"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/logs/dataflash"
	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/core/so3"
)

// ardupilot are the binary logs of ArduPilot: world NED, body FRD, angles in degrees.
var ardupilot = format{
	kind: "ArduPilot DataFlash",
	is:   func(head []byte) bool { return bytes.HasPrefix(head, dataflash.Magic) },
	open: func(name string, r io.Reader, want func(string) bool) (record.Reader, error) {
		return dataflash.NewReader(name, r, want)
	},
	finish: finishDataFlash,
	fields: []mapping{
		{Position, "XKF1", []string{"PN", "PE", "PD"}, swapWorld},
		{Position, "NKF1", []string{"PN", "PE", "PD"}, swapWorld},
		{Velocity, "XKF1", []string{"VN", "VE", "VD"}, swapWorld},
		{Velocity, "NKF1", []string{"VN", "VE", "VD"}, swapWorld},
		{Attitude, "ATT", []string{"Roll", "Pitch", "Yaw"}, swapEuler},
		{Rates, "IMU", []string{"GyrX", "GyrY", "GyrZ"}, swapBody},
		{Rates, "RATE", []string{"R", "P", "Y"}, swapDegrees},
		{Motors, "RCOU", []string{"C1", "C2", "C3", "C4"}, nil},
		{Motors, "RCOU", []string{"Ch1", "Ch2", "Ch3", "Ch4"}, nil},
		{Battery, "BAT", []string{"Volt"}, nil},
		{Battery, "CURR", []string{"Volt"}, nil},
		{Thrust, "RATE", []string{"AOut"}, nil},
		{Commands, "RATE", []string{"RDes", "PDes", "YDes"}, swapDegrees},
		{Flying, "EV", []string{"Id"}, landing},
	},
}

func swapDegrees(in, out []float64) bool {
	return put(out, bridge.SwapBody(vec(in).Scale(1/degrees)))
}

// swapEuler takes roll, pitch and yaw of FRD in NED, degrees.
func swapEuler(in, out []float64) bool {
	return swapAttitude(fields(so3.FromEuler(in[0]/degrees, in[1]/degrees, in[2]/degrees)), out)
}

// landing takes the events that say where the vehicle is.
func landing(in, out []float64) bool {
	const disarmed, landed, takenOff = 11, 18, 28
	switch in[0] {
	case disarmed, landed:
		out[0] = 0
	case takenOff:
		out[0] = 1
	default:
		return false
	}
	return true
}

// placesDataFlash are the places of motors 1 to 4 by FRAME_TYPE.
var placesDataFlash = map[int][4]place{
	1: defaultPX4, 3: defaultPX4, // X and H
	12: defaultBetaflight, 18: defaultBetaflight,
	13: {{1, -1}, {1, 1}, {-1, 1}, {-1, -1}}, // DJI X
	14: {{1, -1}, {-1, -1}, {-1, 1}, {1, 1}}, // clockwise X
}

func finishDataFlash(l *Log, _ *collector) error {
	p := l.About.Parameters
	if h := p["MOT_THST_HOVER"]; h > 0 {
		l.Throttle.Hover, l.HoverOf = h, "parameter MOT_THST_HOVER"
		spin := bridge.Spin{Min: p[bridge.SpinMin], Max: p[bridge.SpinMax], Expo: p[bridge.ThrustExpo]}
		if least := spin.Least(h); least > 0 && least < 1 { // as all parameters have it that fly
			l.Throttle.Least = least
		}
	}
	if !l.Has(Motors) {
		return nil
	}
	if class, ok := p["FRAME_CLASS"]; ok && class != 1 {
		return fmt.Errorf("parameter FRAME_CLASS is %.0f, expected 1, a vehicle of 4 rotors", class)
	}
	for i := range 4 {
		name := fmt.Sprintf("SERVO%d_FUNCTION", i+1)
		if f, ok := p[name]; ok && int(f) != 33+i {
			return fmt.Errorf("parameter %s is %.0f, expected motor %d on output %d", name, f, i+1, i+1)
		}
	}
	low, high := p["MOT_PWM_MIN"], p["MOT_PWM_MAX"]
	if low <= 0 || high <= low {
		low, high = 1000, 2000
	}
	scale(&l.Series[Motors], low, high)
	l.Notes = append(l.Notes, fmt.Sprintf("motor commands are PWM of %.0f to %.0f µs", low, high))
	l.idle = p["MOT_SPIN_ARM"]
	kind, ok := p["FRAME_TYPE"]
	places, known := placesDataFlash[int(kind)]
	if ok && !known {
		return fmt.Errorf("parameter FRAME_TYPE is %.0f, expected an X or H", kind)
	}
	if l.Ordered = ok; !ok {
		places = defaultPX4
		l.Notes = append(l.Notes,
			"motors are taken in the order of an X: front right, rear left, front left, rear right")
	}
	reorder(&l.Series[Motors], places)
	return nil
}
