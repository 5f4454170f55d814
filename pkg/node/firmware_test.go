package node_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/ardupilot/sitl"
	px4 "vnd/pkg/bridge/px4/sitl"
	"vnd/pkg/core/so3"
	"vnd/pkg/node/autopilottest"
)

// copter is a lab whose robot is flown by an autopilot's own firmware, with the test as mavros and at the transmitter.
type copter struct {
	*lab
	*autopilottest.Firmware
	airframe []string // parameters of the controller
}

// firmware is where one lies, by the environment.
type firmware struct {
	variable string
	binary   func() (string, error)
}

var firmwares = map[string]firmware{
	bridge.Ardupilot: {"VND_ARDUPILOT", sitl.Binary}, bridge.PX4: {"VND_PX4", px4.Binary},
}

// needsFirmware skips a test without it, or a short one.
func needsFirmware(t *testing.T, kind string) {
	t.Helper()
	if _, err := firmwares[kind].binary(); err != nil || testing.Short() {
		t.Skip("two processes and the firmware: ", err)
	}
}

// newCopter starts the simulator with settings of the firmware, in simulated time that waits for commands.
func newCopter(t *testing.T, kind, settings string, more ...string) *copter {
	t.Helper()
	c := &copter{lab: newLab(t)}
	f := firmwares[kind]
	c.env = func(string) []string { return []string{f.variable + "=" + must(f.binary())(t)} }
	c.start("quad_sim", append(more, "-p", "start:=[0.0, 0.0, 0.0]", "-p", "speed:=4.0", "-p", "lockstep:=true", "-p",
		"lockstep_patience:=1.0", "-p", "autopilot.firmware:="+kind, "-p", "autopilot.serial:=true", "-p",
		"autopilot.settings:="+settings)...)
	var said []string
	c.until("the firmware's serial line is known", func() bool {
		said = regexp.MustCompile(`at (?:tcp|udp):(\S+); of its airframe: (.*)`).
			FindStringSubmatch(strings.Join(c.log, "\n"))
		return said != nil
	})
	for _, one := range strings.Split(said[2], ", ") {
		c.airframe = append(c.airframe, "-p", strings.Replace(one, " ", ":=", 1))
	}
	c.Firmware = must(autopilottest.NewFirmware(c.n, "/fcu/", kind, said[1]))(t)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				_ = c.Say()
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-ended; _ = c.Close() })
	return c
}

func (c *copter) control(by string, args ...string) {
	c.t.Helper()
	c.start("policy_controller", append(append([]string{"-p", "use_sim_time:=true", "-p",
		"command_interface:=" + by, "-p", "autopilot_namespace:=/fcu", "-p", "autostart:=true", "-p",
		"bundle_file:=" + must(filepath.Abs("../flight/control/testdata/a.vnd"))(c.t)}, c.airframe...), args...)...)
}

// said is what the firmware said last.
func (c *copter) said() string {
	all := c.Texts()
	return strings.Join(all[max(0, len(all)-5):], "; ")
}

// armed has the controller fly the robot.
func (c *copter) armed() {
	c.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		r := c.arm(true)
		if r.Success {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("not armed: %s; the firmware said: %s", r.Message, c.said())
		}
	}
}

// fliesAbout hovers, goes elsewhere and lands.
func (c *copter) fliesAbout() {
	c.t.Helper()
	c.until("the robot hovers", func() bool { return c.hovers(so3.Vec3{Z: 1}) })
	if r := c.task("hover", `{"kind": "hover", "point": [0.5, 0, 1.2]}`); !r.Success {
		c.t.Fatal(r.Message)
	}
	c.until("the robot hovers elsewhere", func() bool { return c.hovers(so3.Vec3{X: .5, Z: 1.2}) })
	if r := c.trigger("policy_controller/land"); !r.Success {
		c.t.Fatal(r.Message)
	}
	c.until("the robot has landed", func() bool { return newest(c.truth).State.P.Z < 0.1 })
}

// stops stops the controller until the test ends.
func (c *copter) stops() {
	if err := syscall.Kill(c.pid, syscall.SIGSTOP); err != nil {
		c.t.Fatal(err)
	}
	pid := c.pid
	c.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
}
