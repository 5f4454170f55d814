package mavlink

import "strings"

// Message is a pointer to one of the structs of this file, whose fields are in the order of the wire.
type Message interface {
	id() uint32
	extra() byte // CRC_EXTRA
}

// Heartbeat comes each second.
type Heartbeat struct {
	CustomMode                                 uint32
	Type, Autopilot, BaseMode, Status, Mavlink uint8
}

// ParamRequestRead asks for a parameter.
type ParamRequestRead struct {
	Index             int16 // −1: by name
	System, Component uint8
	Name              [16]byte
}

// ParamValue says what a parameter is.
type ParamValue struct {
	Value        float32
	Count, Index uint16
	Name         [16]byte
	Type         uint8
}

// ParamSet sets a parameter.
type ParamSet struct {
	Value             float32
	System, Component uint8
	Name              [16]byte
	Type              uint8
}

// SetMode has it enter a mode.
type SetMode struct {
	CustomMode       uint32
	System, BaseMode uint8
}

// CommandLong is an order.
type CommandLong struct {
	Params                        [7]float32
	Command                       uint16
	System, Component, Repetition uint8
}

// CommandAck answers an order.
type CommandAck struct {
	Command uint16
	Result  uint8 // MAV_RESULT, 0: accepted
}

// SetAttitudeTarget is a setpoint, in FRD.
type SetAttitudeTarget struct {
	Milliseconds                uint32
	Q                           [4]float32
	Rates                       [3]float32
	Thrust                      float32
	System, Component, TypeMask uint8
}

// Ping is sent back by who it goes to.
type Ping struct {
	Microseconds      uint64
	Sequence          uint32
	System, Component uint8 // 0: an answer is wanted
}

// HilSensor is what a simulator's sensors say, in FRD.
type HilSensor struct {
	Microseconds     uint64
	Accel, Gyro, Mag [3]float32 // m/s², rad/s, gauss
	Pressure         [3]float32 // absolute and differential, hPa; altitude, m
	Temperature      float32
	Updated          uint32 // bits: accelerometer 7, gyroscope 56
	ID               uint8
}

// HilActuatorControls is what the autopilot drives the motors of a simulator at.
type HilActuatorControls struct {
	Microseconds, Flags uint64
	Controls            [16]float32
	Mode                uint8
}

// Odometry is a state that was seen from outside.
type Odometry struct {
	Microseconds                       uint64
	P                                  [3]float32
	Q                                  [4]float32
	V, Rates                           [3]float32
	PoseCovariance, VelocityCovariance [21]float32 // the upper right triangles, by row
	Frame, Child, Resets, Estimator    uint8
	Quality                            int8
}

// SysStatus has the battery's voltage.
type SysStatus struct {
	_             [3]uint32
	Load, Voltage uint16 // Voltage in mV
}

// StatusText is what it says to people.
type StatusText struct {
	Severity uint8
	Text     [50]byte
}

func (*Heartbeat) id() uint32            { return 0 }
func (*Heartbeat) extra() byte           { return 50 }
func (*SysStatus) id() uint32            { return 1 }
func (*SysStatus) extra() byte           { return 124 }
func (*Ping) id() uint32                 { return 4 }
func (*Ping) extra() byte                { return 237 }
func (*SetMode) id() uint32              { return 11 }
func (*SetMode) extra() byte             { return 89 }
func (*ParamRequestRead) id() uint32     { return 20 }
func (*ParamRequestRead) extra() byte    { return 214 }
func (*ParamValue) id() uint32           { return 22 }
func (*ParamValue) extra() byte          { return 220 }
func (*ParamSet) id() uint32             { return 23 }
func (*ParamSet) extra() byte            { return 168 }
func (*CommandLong) id() uint32          { return 76 }
func (*CommandLong) extra() byte         { return 152 }
func (*CommandAck) id() uint32           { return 77 }
func (*CommandAck) extra() byte          { return 143 }
func (*SetAttitudeTarget) id() uint32    { return 82 }
func (*SetAttitudeTarget) extra() byte   { return 49 }
func (*HilActuatorControls) id() uint32  { return 93 }
func (*HilActuatorControls) extra() byte { return 47 }
func (*HilSensor) id() uint32            { return 107 }
func (*HilSensor) extra() byte           { return 108 }
func (*StatusText) id() uint32           { return 253 }
func (*StatusText) extra() byte          { return 83 }

func (*Odometry) id() uint32  { return 331 }
func (*Odometry) extra() byte { return 91 }

// byID is an empty message; nil for one that is not here.
func byID(id uint32) Message {
	for _, m := range [...]Message{new(Heartbeat), new(SysStatus), new(Ping), new(SetMode),
		new(ParamRequestRead), new(ParamValue), new(ParamSet), new(CommandLong), new(CommandAck),
		new(SetAttitudeTarget), new(HilActuatorControls), new(HilSensor), new(StatusText), new(Odometry)} {
		if m.id() == id {
			return m
		}
	}
	return nil
}

// Name is the name of a parameter on the wire.
func Name(s string) (b [16]byte) {
	copy(b[:], s)
	return b
}

// Text is what stands before the zeros.
func Text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
