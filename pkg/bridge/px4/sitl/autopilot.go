package sitl

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/mavlink"
	"vnd/pkg/bridge/mavlink/lockstep"
)

// Offboard is PX4's custom mode of that name: main mode 6.
const Offboard = 6 << 16

// Simulated are parameters that a board has because it is simulated: gyroscope and accelerometer of its own, a place
// that is seen from outside, no transmitter, battery, log or card, and no failsafe but that of offboard mode.
var Simulated = []mavlink.Parameter{
	{Name: "CAL_ACC0_ID", Value: 1310988}, {Name: "CAL_GYRO0_ID", Value: 1310988},
	{Name: "SYS_HAS_GPS"}, {Name: "SYS_HAS_MAG"}, {Name: "SYS_HAS_BARO"}, {Name: "SDLOG_MODE", Value: -1},
	{Name: "EKF2_MULTI_IMU"}, {Name: "EKF2_GPS_CTRL"}, {Name: "EKF2_BARO_CTRL"}, {Name: "EKF2_MAG_TYPE", Value: 5},
	{Name: "CBRK_SUPPLY_CHK", Value: 894281}, {Name: "COM_ARM_SDCARD"}, {Name: "COM_CPU_MAX", Value: -1},
	{Name: "COM_RC_IN_MODE", Value: 4}, {Name: "COM_DISARM_PRFLT", Value: -1}, {Name: "COM_DISARM_LAND", Value: -1},
	{Name: "FD_FAIL_P"}, {Name: "FD_FAIL_R"}, {Name: "MAV_TYPE", Value: 2}, {Name: "CA_ROTOR_COUNT", Value: 4},
	{Name: "PWM_MAIN_FUNC1", Value: 101}, {Name: "PWM_MAIN_FUNC2", Value: 102}, {Name: "PWM_MAIN_FUNC3", Value: 103},
	{Name: "PWM_MAIN_FUNC4", Value: 104}, {Name: "IMU_GYRO_RATEMAX", Value: 1000},
	{Name: "MAV_PROTO_VER", Value: 2},
}

// modules are those that fly a multirotor, in the order of their start, on what the simulator is connected to.
const modules = `manual_control start
sensors start
commander start
ekf2 start &
pwm_out_sim start -m sim
control_allocator start
mc_rate_control start
mc_att_control start
mc_hover_thrust_estimator start
flight_mode_manager start
mc_pos_control start
land_detector start multicopter
navigator start
`

// agentPort is the parameter that has the firmware talk to a uXRCE-DDS agent at that UDP port of this machine.
const agentPort = "UXRCE_DDS_PRT"

// firmware is a lockstep.Autopilot.
type firmware struct {
	binary string
	folder string
	params []mavlink.Parameter
	lines  [2]int // UDP ports of its lines
}

// NewBoard has parameters in place of the firmware's defaults; of two of one name the later counts.
func NewBoard(binary string, t bridge.Throttle, params []mavlink.Parameter) (*lockstep.Board, error) {
	dir, err := os.MkdirTemp("", "px4")
	if err != nil {
		return nil, err
	}
	f := &firmware{binary: binary, folder: dir, params: lockstep.Last(params)}
	for i := range f.lines {
		if f.lines[i], err = free(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return lockstep.New(f, t, f.params)
}

var loopback = net.IPv4(127, 0, 0, 1)

// free is a UDP port that nobody has.
func free() (int, error) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: loopback})
	if err != nil {
		return 0, err
	}
	return c.LocalAddr().(*net.UDPAddr).Port, c.Close()
}

// write writes the startup script, of modules that are connected to a simulator's port. The first line is between its
// port and to; the second one sends to who spoke to it.
func (f *firmware) write(simulator, to int) error {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n. px4-alias.sh\nparam select parameters.bson\n")
	for _, p := range f.params {
		fmt.Fprintf(&b, "param set %s %s\n", p.Name, strconv.FormatFloat(p.Value, 'f', -1, 64))
	}
	fmt.Fprintf(&b, "dataman start -r\nsimulator_mavlink start -t 127.0.0.1 %d\n%s", simulator, modules)
	fmt.Fprintf(&b, "mavlink start -u %d -o %d -r 100000 -m minimal\n", f.lines[0], to)
	fmt.Fprintf(&b, "mavlink start -u %d -r 100000 -m onboard -w\nmavlink boot_complete\n", f.lines[1])
	for _, p := range f.params {
		if p.Name == agentPort {
			fmt.Fprintf(&b, "uxrce_dds_client start -t udp -h 127.0.0.1 -p %g\n", p.Value)
		}
	}
	return os.WriteFile(filepath.Join(f.folder, "start.sh"), []byte(b.String()), 0o666)
}

func (f *firmware) Start(bool) (lockstep.Process, *mavlink.Link, error) {
	conn, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: loopback, Port: f.lines[0]})
	if err != nil {
		return nil, nil, err
	}
	// A listener of its own: nothing of a firmware before waits there.
	simulator, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: loopback})
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	err = f.write(simulator.Addr().(*net.TCPAddr).Port, conn.LocalAddr().(*net.UDPAddr).Port)
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close(), simulator.Close())
	}
	p, err := start(f.binary, f.folder, simulator)
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return p, mavlink.NewLink(conn), nil
}

func (f *firmware) Address() string { return fmt.Sprint("127.0.0.1:", f.lines[1]) }

func (f *firmware) Arm(l *mavlink.Link) error {
	const setMode, custom, offboard = 176, 1, 6 // MAV_CMD_DO_SET_MODE
	const armDisarm, force = 400, 21196         // MAV_CMD_COMPONENT_ARM_DISARM
	return errors.Join(l.Order(setMode, custom, offboard), l.Order(armDisarm, 1, force))
}

func (f *firmware) Follows(l *mavlink.Link) bool {
	mode, _, armed := l.State()
	return armed && mode == Offboard
}

// Aim waits until the setpoint has been taken: the firmware hears of it in a thread of its own, apart from its clock.
func (f *firmware) Aim(l *mavlink.Link, m *mavlink.SetAttitudeTarget) error {
	if err := l.Aim(m); err != nil {
		return err
	}
	return l.Settle()
}

func (f *firmware) Close() error { return os.RemoveAll(f.folder) }
