package logs

import (
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"vnd/msgs"
	actuatormsgs "vnd/msgs/actuator_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// Streams of a rosbag: each is one of its topics, or half of one.
var (
	bagPose     = &record.Topic{Name: "pose", Fields: []string{"px", "py", "pz", "qw", "qx", "qy", "qz"}}
	bagOdometry = &record.Topic{Name: "odometry", Fields: append(slices.Clone(bagPose.Fields), "vx", "vy", "vz")}
	bagRates    = &record.Topic{Name: "imu", Fields: []string{"wx", "wy", "wz"}}
	bagMotors   = &record.Topic{Name: "motors", Fields: []string{"m1", "m2", "m3", "m4"}}
	bagBattery  = &record.Topic{Name: "battery", Fields: []string{"vbat"}}
	bagFlown    = &record.Topic{Name: "step", Fields: []string{"flown"}}
)

var bagFields = []mapping{
	{Position, "", []string{"px", "py", "pz"}, nil},
	{Velocity, "", []string{"vx", "vy", "vz"}, nil},
	{Attitude, "", []string{"qw", "qx", "qy", "qz"}, nil},
	{Rates, "", []string{"wx", "wy", "wz"}, nil},
	{Motors, "", []string{"m1", "m2", "m3", "m4"}, nil},
	{Battery, "", []string{"vbat"}, nil},
	{Flying, "", []string{"flown"}, nil},
}

// bagStates are the types that a state is taken from, the preferred ones first: those that measure velocities.
var bagStates = []string{bridge.TypeOdometry, bridge.TypeVehicleOdometry, bridge.TypePoseStamped,
	bridge.TypePoseWithCovariance, bridge.TypeNamedPoseArray, bridge.TypeRigidBodies, bridge.TypeTransformStamped}

// isBag reports whether a path is a rosbag: a folder, or one of its storage files.
func isBag(path string, folder bool) bool { return folder || bag.IsFile(path) }

// readBag reads a rosbag of a flight by motors: poses, body rates of an imu, Actuators, and the battery.
func readBag(name string) (*Log, error) {
	r, err := bag.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := newRosbag()
	if err := b.bind(r.Topics()); err != nil {
		return nil, fmt.Errorf("bag %s: %w", name, err)
	}
	next, stop := iter.Pull2(r.Messages(b.names...))
	defer stop()
	b.next = next
	l, err := b.log(name)
	if err != nil {
		return nil, err
	}
	if lost := r.Lost(); lost.Any() {
		l.Notes = append(l.Notes, lost.String())
	}
	return l, nil
}

func newRosbag() *rosbag {
	return &rosbag{about: record.NewAbout(), decode: map[string]func(*bag.Message) (*record.Topic, int64, error){},
		refused: map[string]int{}}
}

// log reads all messages.
func (b *rosbag) log(name string) (*Log, error) {
	f := format{kind: "rosbag", fields: bagFields,
		open: func(string, io.Reader, func(string) bool) (record.Reader, error) { return b, nil },
		finish: func(l *Log, _ *collector) error {
			l.Ordered = true
			l.Notes = append(l.Notes, b.notes...)
			return nil
		}}
	return f.parse(name, nil)
}

// rosbag streams the rows of a bag's topics.
type rosbag struct {
	about   *record.About
	names   []string // of the topics that are read
	decode  map[string]func(*bag.Message) (*record.Topic, int64, error)
	next    func() (*bag.Message, error, bool)
	begun   bool
	origin  int64 // ns, of the first row
	values  []float64
	refused map[string]int // messages by topic
	notes   []string
}

func (b *rosbag) About() *record.About { return b.about }

// bind chooses the topics.
func (b *rosbag) bind(all []bag.Topic) error {
	beside := ""
	for _, t := range all {
		b.about.Topics[t.Name] += int(t.Count)
		if t.Type == bridge.TypeActuators {
			beside = path.Dir(t.Name)
		}
	}
	for _, role := range []struct {
		name  string
		types []string
		bind  func(t bag.Topic) error
	}{
		{"", bagStates, b.bindState},
		{"imu", []string{bridge.TypeImu}, b.bindRates},
		{"motors", []string{bridge.TypeActuators}, b.bindMotors},
		{"battery", []string{bridge.TypeBatteryState}, b.bindBattery},
		{"step", []string{bridge.TypeStep}, b.bindSteps},
	} {
		t, ok, err := chooseTopic(all, role.types, path.Join(beside, role.name))
		if err == nil && ok {
			b.names = append(b.names, t.Name)
			err = role.bind(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chooseTopic is the only topic of the first type that has messages, or the one of that name; ok is false without one.
func chooseTopic(all []bag.Topic, types []string, name string) (chosen bag.Topic, ok bool, err error) {
	for _, kind := range types {
		var found []string
		for _, t := range all {
			switch {
			case t.Type != kind || t.Count == 0:
			case t.Name == name:
				return t, true, nil
			default:
				chosen, found = t, append(found, t.Name)
			}
		}
		if len(found) > 1 {
			return chosen, false, fmt.Errorf("%d topics of type %s: %s, expected one", len(found), kind,
				strings.Join(found, ", "))
		}
		if len(found) == 1 {
			return chosen, true, nil
		}
	}
	return chosen, false, nil
}

func (b *rosbag) bindState(t bag.Topic) error {
	d, err := bridge.NewPoseDecoder(t.Name, t.Type, bridge.PoseOptions{World: "auto", Twist: "auto"})
	if err != nil {
		return err
	}
	b.decode[t.Name] = func(m *bag.Message) (*record.Topic, int64, error) {
		p, found, err := d.Decode(m.Data)
		if err != nil || !found {
			return nil, 0, err
		}
		b.values = append(append(vector3(b.values[:0], p.State.P), p.State.Q.W, p.State.Q.X, p.State.Q.Y), p.State.Q.Z)
		if p.HasVelocity {
			b.values = vector3(b.values, p.State.V)
			return bagOdometry, p.Stamp, nil
		}
		return bagPose, p.Stamp, nil
	}
	return nil
}

func vector3(out []float64, v so3.Vec3) []float64 { return append(out, v.X, v.Y, v.Z) }

func (b *rosbag) bindRates(t bag.Topic) error {
	x := new(sensormsgs.Imu)
	b.decode[t.Name] = func(m *bag.Message) (*record.Topic, int64, error) {
		if err := cdr.Unmarshal(m.Data, x); err != nil {
			return nil, 0, err
		}
		w, err := bridge.RatesOfImu(x)
		b.values = vector3(b.values[:0], w)
		return bagRates, bridge.Nanoseconds(x.Header.Stamp), err
	}
	return nil
}

func (b *rosbag) bindMotors(t bag.Topic) error {
	x := new(actuatormsgs.Actuators)
	b.decode[t.Name] = func(m *bag.Message) (*record.Topic, int64, error) {
		if err := cdr.Unmarshal(m.Data, x); err != nil {
			return nil, 0, err
		}
		c, err := bridge.FromActuators(x)
		b.values = append(b.values[:0], c[:]...)
		return bagMotors, bridge.Nanoseconds(x.Header.Stamp), err
	}
	return nil
}

func (b *rosbag) bindBattery(t bag.Topic) error {
	x := new(sensormsgs.BatteryState)
	b.decode[t.Name] = func(m *bag.Message) (*record.Topic, int64, error) {
		err := cdr.Unmarshal(m.Data, x)
		b.values = append(b.values[:0], float64(x.Voltage))
		return bagBattery, bridge.Nanoseconds(x.Header.Stamp), err
	}
	return nil
}

// bindSteps takes from the controller's steps when the vehicle flew by its commands.
func (b *rosbag) bindSteps(t bag.Topic) error {
	x := new(msgs.Step)
	b.decode[t.Name] = func(m *bag.Message) (*record.Topic, int64, error) {
		err := cdr.Unmarshal(m.Data, x)
		b.values = append(b.values[:0], btof(guard.Stage(x.GuardState).Flown()))
		return bagFlown, bridge.Nanoseconds(x.Header.Stamp), err
	}
	return nil
}

// Next implements record.Reader. A message without a stamp is of the time of its recording.
func (b *rosbag) Next() (record.Record, error) {
	for {
		m, err, ok := b.next()
		if !ok {
			return record.Record{}, io.EOF
		}
		if err != nil {
			return record.Record{}, err
		}
		topic, stamp, err := b.decode[m.Topic](m)
		if err != nil {
			b.refuse(m.Topic, err)
			continue
		}
		if topic == nil { // of another body
			continue
		}
		if stamp == 0 {
			stamp = m.LogTime
		}
		if !b.begun {
			b.begun, b.origin = true, stamp
		}
		return record.Record{Topic: topic, T: float64(stamp-b.origin) / 1e9, Values: b.values}, nil
	}
}

// refuse notes the first message of a topic that cannot be used.
func (b *rosbag) refuse(topic string, err error) {
	if b.refused[topic]++; b.refused[topic] == 1 {
		text := err.Error()
		if !strings.HasPrefix(text, "topic ") {
			text = "topic " + topic + ": " + text
		}
		b.notes = append(b.notes, text+"; such messages are left out")
	}
}
