package sitl

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/mavlink"
	"vnd/pkg/bridge/mavlink/lockstep"
)

// Modes of ArduPilot Copter.
const (
	Guided      = 4
	Land        = 9
	GuidedNoGPS = 20
)

// Simulated are parameters that a board has because it is simulated: a frame of four rotors in an X, no transmitter, no
// log, and no failsafes.
var Simulated = []mavlink.Parameter{
	{Name: "FRAME_CLASS", Value: 1}, {Name: "FRAME_TYPE", Value: 1}, {Name: "LOG_BACKEND_TYPE"},
	{Name: "FS_THR_ENABLE"}, {Name: "FS_GCS_ENABLE"}, {Name: "FS_CRASH_CHECK"}, {Name: "FS_EKF_ACTION"},
	{Name: "FS_VIBE_ENABLE"}, {Name: "TERRAIN_ENABLE"}, {Name: "MOT_PWM_MIN", Value: 1000},
	{Name: "MOT_PWM_MAX", Value: 2000},
}

// copter is a lockstep.Autopilot.
type copter struct {
	binary string
	folder string
	second int // port of the second serial line; 0: it has none
}

// NewBoard has parameters in place of the firmware's defaults; of two of one name the later counts.
func NewBoard(binary string, t bridge.Throttle, params []mavlink.Parameter) (*lockstep.Board, error) {
	dir, err := os.MkdirTemp("", "ardupilot")
	if err != nil {
		return nil, err
	}
	params = lockstep.Last(params)
	var text strings.Builder
	for _, p := range params {
		fmt.Fprintf(&text, "%s %g\n", p.Name, p.Value)
	}
	if err := os.WriteFile(filepath.Join(dir, "defaults.parm"), []byte(text.String()), 0o666); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return lockstep.New(&copter{binary: binary, folder: dir}, t, params)
}

func (c *copter) Start(second bool) (lockstep.Process, *mavlink.Link, error) {
	if second && c.second == 0 {
		l, err := listen()
		if err != nil {
			return nil, nil, err
		}
		c.second = l.Addr().(*net.TCPAddr).Port // which nobody has
		if err := l.Close(); err != nil {
			return nil, nil, err
		}
	}
	serial, err := listen() // anew: nothing of a firmware before waits there
	if err != nil {
		return nil, nil, err
	}
	defer serial.Close()
	p, err := start(c.binary, c.folder, serial, c.second)
	if err != nil {
		return nil, nil, err
	}
	l, err := accept(serial)
	if err != nil {
		return nil, nil, errors.Join(err, p.Close())
	}
	return p, l, nil
}

// listen listens at a port of the loopback that nobody has.
func listen() (*net.TCPListener, error) {
	return net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
}

// accept waits for the firmware to connect.
func accept(serial *net.TCPListener) (*mavlink.Link, error) {
	if err := serial.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	conn, err := serial.Accept()
	if err != nil {
		return nil, fmt.Errorf("the firmware does not connect: %w", err)
	}
	return mavlink.NewLink(conn), nil
}

func (c *copter) Address() string { return fmt.Sprint("127.0.0.1:", c.second) }

func (c *copter) Arm(l *mavlink.Link) error {
	const armDisarm, force = 400, 2989 // MAV_CMD_COMPONENT_ARM_DISARM
	return errors.Join(l.Enter(GuidedNoGPS), l.Order(armDisarm, 1, force))
}

func (c *copter) Follows(l *mavlink.Link) bool {
	mode, _, armed := l.State()
	return armed && mode == GuidedNoGPS
}

func (c *copter) Aim(l *mavlink.Link, m *mavlink.SetAttitudeTarget) error { return l.Aim(m) }

func (c *copter) Close() error { return os.RemoveAll(c.folder) }
