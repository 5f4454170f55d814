package betaflightbridge

import (
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight/sitl/sitltest"
	"vnd/pkg/core/param/paramtest"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

func TestParameterFile(t *testing.T) { paramtest.File[Params](t, Name) }

// join makes a context in a graph.
func join(t *testing.T, d *inproc.Domain, args ...string) *ros.Context {
	t.Helper()
	c, err := ros.NewContext(ros.Options{Args: append([]string{"--ros-args", "-r", "__ns:=/quad",
		"--disable-external-lib-logs"}, args...), Backend: ros.InProcess(d), Getenv: func(string) string { return "" },
		Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	rostest.Spin(t, c, 2)
	return c
}

// laboratory is a graph with the bridge in it, and a person who commands hovering at 50 Hz.
type laboratory struct {
	node   *ros.Node
	states chan mavrosmsgs.State
	arm    *ros.Client[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse]
}

func newLaboratory(t *testing.T, port string, late time.Duration) *laboratory {
	t.Helper()
	d := inproc.NewDomain()
	if err := New(t.Context(), join(t, d, "-p", "port:="+port, "-p", "hover_throttle:=0.3", "-p", "thrust_curve:=1.0",
		"-p", "arm_timeout:=20.0", "-p", "command_timeout:=0.5")); err != nil {
		t.Fatal(err)
	}
	n, err := join(t, d).NewNode("person")
	if err != nil {
		t.Fatal(err)
	}
	l := &laboratory{node: n, states: make(chan mavrosmsgs.State, 1000)}
	if _, err := ros.NewSubscription(n, Name+"/state", ros.QoS{Reliability: dds.Reliable, Depth: 10},
		func(m *mavrosmsgs.State, _ ros.Info) { l.states <- *m }); err != nil {
		t.Fatal(err)
	}
	if l.arm, err = ros.NewClient[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](n, Name+"/arm"); err != nil {
		t.Fatal(err)
	}
	commands, err := ros.NewPublisher[msgs.ThrustRates](n, "command", node.CommandQoS())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for t.Context().Err() == nil {
			m := msgs.ThrustRates{Thrust: 9.81, BodyRates: geometrymsgs.Vector3{}}
			m.Header.Stamp = bridge.Time(time.Now().Add(-late).UnixNano())
			if err := commands.Publish(&m); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return l
}

// until waits for a state.
func (l *laboratory) until(t *testing.T, what string, so func(*mavrosmsgs.State) bool) {
	t.Helper()
	for {
		select {
		case m := <-l.states:
			if so(&m) {
				return
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("waited 20 s for: %s", what)
		}
	}
}

// order arms or disarms.
func (l *laboratory) order(t *testing.T, on bool) *stdsrvs.SetBoolResponse {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	r, err := l.arm.Call(ctx, &stdsrvs.SetBoolRequest{Data: on})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func disarmed(m *mavrosmsgs.State) bool { return m.Connected && !m.Armed && m.Mode == "disarmed" }

func TestBridgeFliesTheFirmware(t *testing.T) {
	f := sitltest.New(t, 10)
	l := newLaboratory(t, "tcp:"+f.Address(), 0)
	l.until(t, "the board", disarmed)
	hover := sitltest.Idle + (1-sitltest.Idle)*sitltest.Hover
	refused := ""
	f.Wait(t, "hover", func(m [4]float64) bool {
		if m[0] == 0 { // at first, and where a busy machine held frames back so long that the failsafe disarmed
			if r := l.order(t, true); !r.Success && r.Message != refused {
				refused = r.Message
				t.Log(refused)
			}
		}
		return m[0] > hover-0.003 && m[0] < hover+0.003
	})
	l.until(t, "that commands are followed", func(m *mavrosmsgs.State) bool { return m.Armed && m.Guided })
	if r := l.order(t, false); !r.Success {
		t.Errorf("disarming: %+v", r)
	}
	f.Wait(t, "disarmed", sitltest.Still)
}

func TestBridgeFollowsNoCommandOfThePast(t *testing.T) {
	f := sitltest.New(t, 10)
	l := newLaboratory(t, "tcp:"+f.Address(), 2*time.Second)
	l.until(t, "the board", disarmed)
	if r := l.order(t, true); r.Success || r.Message != "arming is refused: no command for 0.5 s" {
		t.Errorf("arming: %+v", r)
	}
}

func TestBridgeWithoutABoard(t *testing.T) {
	l := newLaboratory(t, "/dev/none", 0)
	l.until(t, "that there is no board", func(m *mavrosmsgs.State) bool { return m.Mode == "no board" })
	if r := l.order(t, true); r.Success || !strings.Contains(r.Message, "no board") {
		t.Errorf("arming: %+v", r)
	}
}

func TestStateGoesOnWhereTheBoardIsGone(t *testing.T) {
	f := sitltest.New(t, 10)
	cable, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer cable.Close()
	ends := make(chan net.Conn, 2)
	go func() {
		for _, connect := range []func() (net.Conn, error){cable.Accept,
			func() (net.Conn, error) { return net.Dial("tcp", f.Address()) }} {
			end, err := connect()
			if err != nil {
				t.Error(err)
				return
			}
			ends <- end
		}
	}()
	l := newLaboratory(t, "tcp:"+cable.Addr().String(), 0)
	bridge, board := <-ends, <-ends
	go func() { _, _ = io.Copy(bridge, board) }()
	go func() { _, _ = io.Copy(board, bridge) }()
	l.until(t, "the board", disarmed)
	for _, end := range []io.Closer{cable, bridge, board} {
		if err := end.Close(); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		l.until(t, "that there is no board", func(m *mavrosmsgs.State) bool {
			return m.Mode == "no board" && !m.Connected && !m.Armed && !m.Guided
		})
	}
}
