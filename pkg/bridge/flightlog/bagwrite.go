package flightlog

import (
	"fmt"
	"path"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/bag/metadata"
	"vnd/pkg/ros2/cdr"
)

// bagStart is the time of the first row of a written bag: a flight has its own clock, and 0 would be no stamp.
var bagStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// betweenFlights is the time from the last row of one flight to the first of the next, ns.
const betweenFlights = 5e9

// Names of the frames in written bags.
const (
	worldFrame = "map"
	bodyFrame  = "base_link"
)

// BagOptions say how flights become a bag.
type BagOptions struct {
	Storage         string // bag.MCAP (default) or bag.SQLite
	MetadataVersion int    // as bag.WriterOptions has it
	Namespace       string // of the topics, "/quad"
	Odometry        bool   // write mocap/odom, with velocities, instead of mocap/pose
}

// WriteBag writes flights, one after the other, as a bag with poses and commands as vnd's own topics have them. The
// folder must not exist, or be empty; it is whole in the end or not there. The same flights give the same bytes of
// storage.
func WriteBag(dir string, flights []quad.Flight, o BagOptions) error {
	frozen := func() time.Time {
		return time.Unix(0,
			bagStart)
	} // chunks end by their size, never by the time they took
	w, err := bag.Create(dir, bag.WriterOptions{Storage: o.Storage, MetadataVersion: o.MetadataVersion, Now: frozen})
	if err != nil {
		return err
	}
	b := &bagWriter{w: w, odometry: o.Odometry, pose: path.Join("/", o.Namespace, "mocap/pose"),
		command: path.Join("/", o.Namespace, "command")}
	if o.Odometry {
		b.pose = path.Join("/", o.Namespace, "mocap/odom")
	}
	return w.Finish(b.write(flights))
}

type bagWriter struct {
	w             *bag.Writer
	pose, command string // topics
	odometry      bool
	stamped       geometrymsgs.PoseStamped
	moving        navmsgs.Odometry
	rates         msgs.ThrustRates
	data          []byte
}

func (b *bagWriter) write(flights []quad.Flight) error {
	poseType := b.stamped.TypeName()
	if b.odometry {
		poseType = b.moving.TypeName()
	}
	q := bag.QoS{History: "keep_last", Depth: 5, Reliability: "best_effort", Durability: "volatile",
		Deadline: metadata.Infinite,
		Lifespan: metadata.Infinite, Liveliness: "automatic", LivelinessLease: metadata.Infinite}
	if err := b.topic(b.pose, poseType, q); err != nil {
		return err
	}
	q.Depth, q.Reliability = 1, "reliable"
	if err := b.topic(b.command, b.rates.TypeName(), q); err != nil {
		return err
	}
	start := bagStart
	for _, f := range flights {
		if len(f.Segments) == 0 || len(f.Segments[0]) == 0 {
			return fmt.Errorf("flight %s has no rows", f.Name)
		}
		first, last := f.Segments[0][0].T, start
		for _, s := range f.Segments {
			for _, step := range s {
				last = start + nanoseconds(step.T-first)
				if err := b.step(step, last); err != nil {
					return err
				}
			}
		}
		start = last + betweenFlights
	}
	return nil
}

func (b *bagWriter) topic(name, typeName string, q bag.QoS) error {
	t, _ := msgs.Lookup(typeName)
	return b.w.AddTopic(bag.Topic{Name: name, Type: typeName, QoS: []bag.QoS{q}, TypeHash: t.Hash,
		Definition: t.Definition()})
}

// step writes a row: its state, then its command.
func (b *bagWriter) step(s quad.Row, at int64) error {
	var pose cdr.Message = &b.stamped
	if b.odometry {
		pose = &b.moving
		bridge.PutOdometry(&b.moving, at, worldFrame, bodyFrame, s.State)
	} else {
		bridge.PutPoseStamped(&b.stamped, at, worldFrame, s.State)
	}
	if err := b.message(b.pose, pose, at); err != nil {
		return err
	}
	bridge.PutThrustRates(&b.rates, at, bodyFrame, s.Command)
	return b.message(b.command, &b.rates, at)
}

func (b *bagWriter) message(topic string, m cdr.Message, at int64) error {
	var err error
	if b.data, err = cdr.Append(b.data[:0], cdr.LittleEndian, m); err != nil {
		return err
	}
	return b.w.Write(&bag.Message{Topic: topic, Type: m.TypeName(), LogTime: at, PublishTime: at, Data: b.data})
}
