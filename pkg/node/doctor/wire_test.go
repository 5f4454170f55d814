package doctor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// patience is how long the test waits for what must happen.
const patience = 120 * time.Second

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// lab joins the graph, over Cyclone DDS on the loopback.
func lab(t *testing.T) *ros.Node {
	t.Helper()
	c := rostest.Wire(t, nil)
	n := must(c.NewNode("driver"))(t)
	rostest.Spin(t, c, 1)
	return n
}

// place is a position and roll, pitch, yaw in degrees.
type place struct {
	p   so3.Vec3
	rpy [3]float64
}

// places are where the moves of the doctor lead, in the order in which it asks.
var places = []place{
	{so3.Vec3{Z: 0.03}, [3]float64{}}, {so3.Vec3{Z: 0.5}, [3]float64{}}, {so3.Vec3{X: 0.5, Z: 0.5}, [3]float64{}},
	{so3.Vec3{X: 0.5, Y: 0.5, Z: 0.5}, [3]float64{}},
	{so3.Vec3{X: 0.5, Y: 0.5, Z: 0.5}, [3]float64{0, 45, 0}}, {so3.Vec3{X: 0.5, Y: 0.5, Z: 0.5}, [3]float64{}},
	{so3.Vec3{X: 0.5, Y: 0.5, Z: 0.5}, [3]float64{45, 0, 0}}, {so3.Vec3{X: 0.5, Y: 0.5, Z: 0.5}, [3]float64{}},
	{so3.Vec3{X: 0.5, Y: 0.5, Z: 0.5}, [3]float64{0, 0, 90}}, {so3.Vec3{X: 0.5, Y: 1, Z: 0.5}, [3]float64{0, 0, 90}},
}

// driver is a motion capture with the axes of its makers, y up, in millimetres.
type driver struct {
	pub  *ros.Publisher[geometrymsgs.PoseStamped]
	late time.Duration
	wild bool // with the mistakes
}

// say publishes one sample.
func (d *driver) say(t *testing.T, p so3.Vec3, rpy [3]float64) {
	t.Helper()
	const degree = math.Pi / 180
	s := quad.State{P: p, Q: so3.FromEuler(rpy[0]*degree, rpy[1]*degree, rpy[2]*degree)}
	if d.wild {
		up := so3.Quat{W: math.Sqrt2 / 2, X: -math.Sqrt2 / 2} // takes z to y, and y to −z
		s = quad.State{P: up.Rotate(s.P).Scale(1000), Q: up.Mul(s.Q)}
	}
	var m geometrymsgs.PoseStamped
	bridge.PutPoseStamped(&m, time.Now().Add(-d.late).UnixNano(), "world", s)
	if err := d.pub.Publish(&m); err != nil {
		t.Error(err)
	}
}

// move publishes samples on the way from one place to another, and some where it ends.
func (d *driver) move(t *testing.T, tick <-chan time.Time, from, to place) {
	t.Helper()
	const samples = 60
	for i := range samples {
		<-tick
		x := min(1, float64(i)/20)
		q := from
		q.p = from.p.Add(to.p.Sub(from.p).Scale(x))
		for k := range q.rpy {
			q.rpy[k] += x * (to.rpy[k] - from.rpy[k])
		}
		d.say(t, q.p, q.rpy)
	}
}

// examined runs `vnd doctor --live` and does as it asks; it returns what it found, by name.
func examined(t *testing.T, program string, d *driver) (map[string]string, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p := exec.CommandContext(ctx, program, "doctor", "--live", "--json", "--namespace", "/quad")
	p.Env = append(os.Environ(), rostest.Environ()...)
	in, asked := must(p.StdinPipe())(t), must(p.StderrPipe())(t)
	var out strings.Builder
	p.Stdout = &out
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	prompts := make(chan string, 32)
	go func() {
		defer close(prompts)
		for s := bufio.NewScanner(asked); s.Scan(); {
			prompts <- s.Text()
		}
	}()
	at := places[0]
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	next := 0
	var said []string
	for open := true; open; {
		select {
		case line, ok := <-prompts:
			open = ok
			said = append(said, line)
			if !strings.Contains(line, ", then Enter") || next >= len(places) {
				continue
			}
			d.move(t, tick.C, at, places[next])
			at = places[next]
			next++
			if _, err := io.WriteString(in, "\n"); err != nil {
				t.Errorf("after %q: %v", line, err)
			}
		case <-tick.C:
			d.say(t, at.p, at.rpy)
		}
	}
	failed := p.Wait() != nil
	found, err := findings(out.String())
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out.String(), strings.Join(said, "\n"))
	}
	return found, failed
}

// findings reads the doctor's JSON: state and detail by name.
func findings(text string) (map[string]string, error) {
	var r struct {
		Findings []struct{ Name, State, Detail string }
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, f := range r.Findings {
		found[f.Name] += f.State + " " + f.Detail + "\n"
	}
	return found, nil
}

// Over the wire: the doctor asks for the moves, which are made with a driver that is right, and with one that is y up,
// in millimetres and late, beside a node that does not hear another for its QoS.
func TestLive(t *testing.T) {
	n := lab(t)
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "../../../nodes/vnd").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program := filepath.Join(dir, "vnd")
	nobody(t, n, program)
	d := &driver{pub: must(ros.NewPublisher[geometrymsgs.PoseStamped](n, "/quad/mocap/pose", node.MocapQoS()))(t)}
	found, failed := examined(t, program, d)
	for name, want := range map[string]string{"state topic": "ok /quad/mocap/pose, geometry_msgs/msg/PoseStamped, " +
		"by /driver", "QoS": "ok publishers and subscriptions of",
		"position unit": "ok half a metre comes out as 0.5: metres", "position axes": "ok x forward, y left, z up",
		"attitude": "ok follows the moves", "trim": "ok 0.0°"} {
		if !strings.HasPrefix(found[name], want) {
			t.Errorf("%s: %s, expected %s", name, found[name], want)
		}
	}
	if busy := strings.Contains(found["rate"]+found["delay"]+found["jumps"],
		"wrong"); failed != busy { // which a busy machine may well be
		t.Errorf("failed: %v, found %q", failed, found)
	}

	d.wild, d.late = true, 300*time.Millisecond
	must(ros.NewPublisher[stdmsgs.String](n, "/quad/condition", node.LatentQoS()))(t)
	must(ros.NewSubscription(n, "/quad/condition", node.LatchedQoS(), func(*stdmsgs.String, ros.Info) {}))(t)
	found, failed = examined(t, program, d)
	for name, want := range map[string]string{"position unit": "wrong half a metre comes out as 500: these are " +
		"millimetres",
		"position axes": "wrong y points up, as motion capture software has it by default: its x is the world's " +
			"x, its y is the world's z, its z is the world's −y",
		"delay": "wrong topic /quad/mocap/pose: stamps ", "attitude": "ok follows the moves",
		"QoS": "wrong topic /quad/condition: /driver does not hear /driver: RELIABILITY: best effort is offered, " +
			"reliable is asked for"} {
		if !strings.HasPrefix(found[name], want) {
			t.Errorf("%s: %s, expected %s", name, found[name], want)
		}
	}
	if !failed {
		t.Error("mistakes were no failure")
	}
}

// nobody is what the doctor says where the topic is not there: it does not ask for moves.
func nobody(t *testing.T, n *ros.Node, program string) {
	t.Helper()
	other := must(ros.NewPublisher[geometrymsgs.PoseStamped](n, "/vrpn_mocap/cf1/pose", node.MocapQoS()))(t)
	defer other.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p := exec.CommandContext(ctx, program, "doctor", "--live", "--namespace", "robot")
	p.Env = append(os.Environ(), rostest.Environ()...)
	out, err := p.Output()
	want := "wrong    state topic     nobody publishes on /robot/mocap/pose: start the driver; this is " +
		"geometry_msgs/msg/PoseStamped, as published on /vrpn_mocap/cf1/pose: remap it"
	if err == nil || !strings.Contains(string(out), want) {
		t.Errorf("%v: %s", err, out)
	}
}
