// Package rerun writes a flight as a bag of messages that Rerun shows by itself, and Foxglove too. Rerun reads MCAP. Of
// ROS' types it draws transforms, poses, clouds of points, named numbers and log lines, but no markers and no paths.
package rerun

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	tf2msgs "vnd/msgs/tf2_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// Topics of a written bag. Those of numbers are JointStates: what it names a position is the number.
const (
	Transforms = "/tf"       // of the body
	Flown      = "/flown"    // path of the last trailLength
	Position   = "/position" // x, y, z, m
	Velocity   = "/velocity" // x, y, z, m/s
	Command    = "/command"  // as sent: thrust, m/s²; wx, wy, wz, rad/s
	// Of vnd's own steps:
	Reference = "/reference" // pose
	Error     = "/error"     // distance from the reference, m
	Policy    = "/policy"    // its command, before the guard
	Latent    = "/latent"    // z0, z1, …
	Guard     = "/guard"     // stage as in vnd/msg/Step; confidence
	Events    = "/events"    // a line where stage, bundle or task is another one
)

const body = "base_link"

type writer struct {
	bag     *bag.Writer
	err     error // the first
	data    []byte
	flown   trail
	before  *msgs.Step // stage, bundle and task of the step before
	latents []string   // names
}

// Write makes a bag of steps, in the frames that they are in; own is true for those of vnd's controller, and else pose,
// velocity and command_sent are all that counts. The folder must not exist, or be empty; it is whole in the end or not
// there. It returns the number of steps.
func Write(dir string, own bool, steps iter.Seq2[*msgs.Step, error]) (n int, err error) {
	b, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		return 0, err
	}
	w := &writer{bag: b}
	w.topics(own)
	for step, err := range steps {
		if w.err == nil {
			w.err = err
		}
		if w.err != nil {
			break
		}
		w.state(step)
		if own {
			w.step(step)
		}
		n++
	}
	if w.err == nil && n == 0 {
		w.err = fmt.Errorf("bag %s: no steps to write", dir)
	}
	return n, b.Finish(w.err)
}

func (w *writer) topics(own bool) {
	w.topic(&tf2msgs.TFMessage{}, Transforms)
	w.topic(&sensormsgs.PointCloud2{}, Flown)
	w.topic(&sensormsgs.JointState{}, Position, Velocity, Command)
	if own {
		w.topic(&geometrymsgs.PoseStamped{}, Reference)
		w.topic(&sensormsgs.JointState{}, Error, Policy, Latent, Guard)
		w.topic(&rclinterfaces.Log{}, Events)
	}
}

func (w *writer) topic(m cdr.Message, names ...string) {
	t, _ := msgs.Lookup(m.TypeName())
	for _, name := range names {
		if w.err == nil {
			w.err = w.bag.AddTopic(bag.Topic{Name: name, Type: m.TypeName(), TypeHash: t.Hash,
				Definition: t.Definition()})
		}
	}
}

var (
	axes     = []string{"x", "y", "z"}
	commands = []string{"thrust", "wx", "wy", "wz"}
)

// state writes where the body is, how it moves, and what was commanded.
func (w *writer) state(s *msgs.Step) {
	p, v := s.Pose.Position, s.Velocity
	w.message(s.Header, Transforms, &tf2msgs.TFMessage{Transforms: []geometrymsgs.TransformStamped{{
		Header: s.Header, ChildFrameID: body, Transform: geometrymsgs.Transform{
			Translation: geometrymsgs.Vector3(p), Rotation: s.Pose.Orientation}}}})
	if cloud := w.flown.next(s); cloud != nil {
		w.message(s.Header, Flown, cloud)
	}
	w.numbers(s.Header, Position, axes, p.X, p.Y, p.Z)
	w.numbers(s.Header, Velocity, axes, v.X, v.Y, v.Z)
	w.numbers(s.Header, Command, commands, s.CommandSent[:]...)
}

// step writes what vnd's own steps have besides.
func (w *writer) step(s *msgs.Step) {
	w.numbers(s.Header, Policy, commands, s.Command[:]...)
	w.numbers(s.Header, Guard, []string{"stage", "confidence"}, float64(s.GuardState), float64(s.Confidence))
	if r := s.Reference; len(r) >= 7 {
		at, turn := geometrymsgs.Point{X: r[0], Y: r[1], Z: r[2]}, r[6]/2
		w.message(s.Header, Reference, &geometrymsgs.PoseStamped{Header: s.Header, Pose: geometrymsgs.Pose{
			Position: at, Orientation: geometrymsgs.Quaternion{W: math.Cos(turn), Z: math.Sin(turn)}}})
		p := s.Pose.Position
		w.numbers(s.Header, Error, []string{"distance"}, so3.Vec3{X: p.X - at.X, Y: p.Y - at.Y, Z: p.Z - at.Z}.Norm())
	}
	values := make([]float64, len(s.Latent))
	for i, z := range s.Latent {
		if values[i] = float64(z); i == len(w.latents) {
			w.latents = append(w.latents, fmt.Sprint("z", i))
		}
	}
	if len(values) > 0 {
		w.numbers(s.Header, Latent, w.latents[:len(values)], values...)
	}
	w.events(s)
}

// events says what is another than in the step before.
func (w *writer) events(s *msgs.Step) {
	b := w.before
	say := func(changed bool, text string) {
		if changed {
			w.message(s.Header, Events, &rclinterfaces.Log{Stamp: s.Header.Stamp, Level: rclinterfaces.LogInfo,
				Name: "policy_controller", Msg: text})
		}
	}
	say(b == nil || b.GuardState != s.GuardState, "guard: "+guard.Stage(s.GuardState).String())
	say(b == nil || b.BundleID != s.BundleID, "bundle "+s.BundleID)
	say(b == nil || b.Task != s.Task, "task "+s.Task)
	w.before = &msgs.Step{GuardState: s.GuardState, BundleID: s.BundleID, Task: s.Task}
}

func (w *writer) numbers(h stdmsgs.Header, topic string, names []string, values ...float64) {
	w.message(h, topic, &sensormsgs.JointState{Header: h, Name: names, Position: values})
}

func (w *writer) message(h stdmsgs.Header, topic string, m cdr.Message) {
	if w.err != nil {
		return
	}
	if w.data, w.err = cdr.Append(w.data[:0], cdr.LittleEndian, m); w.err == nil {
		at := bridge.Nanoseconds(h.Stamp)
		w.err = w.bag.Write(&bag.Message{Topic: topic, Type: m.TypeName(), LogTime: at, PublishTime: at, Data: w.data})
	}
}

// A trail has a point each tenth of a second, and is drawn twice a second, ns.
const (
	trailLength = 20e9
	trailPoints = 1e8
	trailDrawn  = 5e8
)

// trail is where the body was lately.
type trail struct {
	stamps []int64
	points [][3]float64
	drawn  int64 // when it was, the last time
}

// next takes a step, and returns the cloud when it is time to draw it. Where the clock is set back a new trail begins.
func (t *trail) next(s *msgs.Step) *sensormsgs.PointCloud2 {
	now, n := bridge.Nanoseconds(s.Header.Stamp), len(t.stamps)
	if n > 0 && now < t.stamps[n-1] {
		*t, n = trail{}, 0
	}
	if n == 0 || now-t.stamps[n-1] >= trailPoints {
		p := s.Pose.Position
		t.stamps, t.points = append(t.stamps, now), append(t.points, [3]float64{p.X, p.Y, p.Z})
	}
	if n > 0 && now-t.drawn < trailDrawn {
		return nil
	}
	t.drawn = now
	old := slices.IndexFunc(t.stamps, func(at int64) bool { return now-at <= trailLength })
	t.stamps, t.points = t.stamps[old:], t.points[old:]
	return cloud(s.Header, t.points)
}

// cloud is of float32 x, y, z.
func cloud(h stdmsgs.Header, points [][3]float64) *sensormsgs.PointCloud2 {
	const size = 4
	c := &sensormsgs.PointCloud2{Header: h, Height: 1, Width: uint32(len(points)), PointStep: 3 * size, IsDense: true}
	c.RowStep = c.Width * c.PointStep
	for i, name := range axes {
		c.Fields = append(c.Fields, sensormsgs.PointField{Name: name, Offset: uint32(i * size),
			Datatype: sensormsgs.PointFieldFloat32, Count: 1})
	}
	for _, p := range points {
		for _, v := range p {
			c.Data = binary.LittleEndian.AppendUint32(c.Data, math.Float32bits(float32(v)))
		}
	}
	return c
}
