package bridge

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"vnd/msgs"
	apriltagmsgs "vnd/msgs/apriltag_msgs"
	visionmsgs "vnd/msgs/vision_msgs"
	"vnd/pkg/flight/policy"
	"vnd/pkg/ros2/cdr"
)

// Sources of features, as the parameter features.source names them.
const (
	Features   = "features"   // vnd/msg/Features
	Detections = "detections" // vision_msgs/msg/Detection2DArray
	AprilTags  = "apriltags"  // apriltag_msgs/msg/AprilTagDetectionArray
)

// Types of features by their ROS names.
const (
	TypeFeatures         = "vnd/msg/Features"
	TypeDetection2DArray = "vision_msgs/msg/Detection2DArray"
	TypeAprilTags        = "apriltag_msgs/msg/AprilTagDetectionArray"
)

// FeaturesOptions say how a camera's landmarks come.
type FeaturesOptions struct {
	Source     string    `param:"source" default:"features" enum:"features,detections,apriltags" doc:"features: vnd/msg/Features on features; detections, apriltags: vision_msgs or apriltag_msgs, on detections"`
	IDs        []string  `param:"ids" default:"" doc:"names of the landmarks in a detector's messages, in the order of the policy's points; empty: 0, 1, 2 …"`
	Intrinsics []float64 `param:"intrinsics" default:"" min:"0" max:"100000" unit:"pixels" doc:"fx, fy, cx, cy of the rectified image, for detections and apriltags"`
}

// Topic is the topic of the source, and its type.
func (o *FeaturesOptions) Topic() (topic, typeName string) {
	switch o.Source {
	case Detections:
		return "detections", TypeDetection2DArray
	case AprilTags:
		return "detections", TypeAprilTags
	}
	return "features", TypeFeatures
}

// Check refuses what no frame can be read by.
func (o *FeaturesOptions) Check() error {
	if k := o.Intrinsics; o.Source != Features && !(len(k) == 4 && k[0] > 0 && k[1] > 0) {
		return fmt.Errorf("parameter features.intrinsics is %v, expected fx, fy, cx, cy in pixels for features.source "+
			"%s", k, o.Source)
	}
	for i, id := range o.IDs {
		if slices.Contains(o.IDs[:i], id) {
			return fmt.Errorf("parameter features.ids has %q twice, expected a name for each landmark", id)
		}
	}
	return nil
}

// Frame is what a camera saw of the landmarks.
type Frame struct {
	Stamp    int64            // when it was taken, ns
	Features []policy.Feature // one per landmark, in the order of the policy's points
	Stranger string           // a detection that is none of the landmarks, and was left out; "": there was none
}

// FeaturesDecoder reads frames out of the serialized messages of one topic. It is for one goroutine.
type FeaturesDecoder struct {
	topic   string
	options FeaturesOptions
	message cdr.Message
	read    func(f *Frame) error
	frame   Frame
	named   []bool // landmarks that the message had so far
}

// NewFeaturesDecoder reads what a topic of the source has.
func NewFeaturesDecoder(topic string, o FeaturesOptions) (*FeaturesDecoder, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	d := &FeaturesDecoder{topic: topic, options: o}
	switch o.Source {
	case Detections:
		m := new(visionmsgs.Detection2DArray)
		d.message, d.read = m, func(f *Frame) error { return d.detections(m, f) }
	case AprilTags:
		m := new(apriltagmsgs.AprilTagDetectionArray)
		d.message, d.read = m, func(f *Frame) error { return d.tags(m, f) }
	default:
		m := new(msgs.Features)
		d.message, d.read = m, func(f *Frame) error { return d.features(m, f) }
	}
	return d, nil
}

// Decode reads a frame of n landmarks, which is valid until the next call. The error names topic and field.
func (d *FeaturesDecoder) Decode(data []byte, n int) (*Frame, error) {
	f := &d.frame
	f.Features, d.named = slices.Grow(f.Features[:0], n)[:n], slices.Grow(d.named[:0], n)[:n]
	clear(f.Features)
	clear(d.named)
	f.Stranger = ""
	err := cdr.Unmarshal(data, d.message)
	if ids := len(d.options.IDs); err == nil && ids > 0 && ids != n {
		err = fmt.Errorf("parameter features.ids has %d names, expected one for each of the policy's %d landmarks", ids,
			n)
	}
	if err == nil {
		err = d.read(f)
	}
	if err == nil && f.Stamp == 0 {
		err = errors.New("the stamp is 0, expected that of the image")
	}
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", d.topic, err)
	}
	return f, nil
}

// features reads our own message, which has every landmark.
func (d *FeaturesDecoder) features(m *msgs.Features, f *Frame) error {
	f.Stamp = Nanoseconds(m.Header.Stamp)
	if n := len(f.Features); len(m.Features) != n {
		return fmt.Errorf("%d features, expected the policy's %d landmarks, seen or not", len(m.Features), n)
	}
	for i := range m.Features {
		p := &m.Features[i]
		if int(p.ID) >= len(f.Features) {
			return fmt.Errorf("features[%d].id is %d, expected 0 to %d", i, p.ID, len(f.Features)-1)
		}
		if err := d.put(f, int(p.ID), p.X, p.Y, p.Visible); err != nil {
			return fmt.Errorf("features[%d]: %w", i, err)
		}
	}
	return nil
}

// put sets a landmark, once.
func (d *FeaturesDecoder) put(f *Frame, k int, x, y float64, visible bool) error {
	if d.named[k] {
		return fmt.Errorf("landmark %s is there twice", d.name(k))
	}
	d.named[k] = true
	if !visible {
		return nil
	}
	if sum := x + y; math.IsNaN(sum) || math.IsInf(sum, 0) {
		return fmt.Errorf("landmark %s is seen at %g, %g, expected finite numbers", d.name(k), x, y)
	}
	f.Features[k] = policy.Feature{X: x, Y: y, Visible: true}
	return nil
}

// name of a landmark in messages.
func (d *FeaturesDecoder) name(k int) string {
	if len(d.options.IDs) > 0 {
		return d.options.IDs[k]
	}
	return strconv.Itoa(k)
}

// pixel sets the landmark of a name by its pixel in a rectified image. One of another name is left out: detectors find
// what else is there, too.
func (d *FeaturesDecoder) pixel(f *Frame, name string, u, v float64) error {
	for k := range f.Features {
		if d.name(k) == name {
			i := d.options.Intrinsics
			return d.put(f, k, (u-i[2])/i[0], (v-i[3])/i[1], true)
		}
	}
	f.Stranger = name
	return nil
}

func (d *FeaturesDecoder) tags(m *apriltagmsgs.AprilTagDetectionArray, f *Frame) error {
	f.Stamp = Nanoseconds(m.Header.Stamp)
	for i := range m.Detections {
		tag := &m.Detections[i]
		if err := d.pixel(f, strconv.Itoa(int(tag.ID)), tag.Centre.X, tag.Centre.Y); err != nil {
			return fmt.Errorf("detections[%d]: %w", i, err)
		}
	}
	return nil
}

func (d *FeaturesDecoder) detections(m *visionmsgs.Detection2DArray, f *Frame) error {
	f.Stamp = Nanoseconds(m.Header.Stamp)
	for i := range m.Detections {
		x := &m.Detections[i]
		at := x.Bbox.Center.Position
		if err := d.pixel(f, nameOf(x), at.X, at.Y); err != nil {
			return fmt.Errorf("detections[%d]: %w", i, err)
		}
	}
	return nil
}

// nameOf is the class of a detection's surest result or, where it has none, its id.
func nameOf(x *visionmsgs.Detection2D) string {
	name, surest := x.ID, math.Inf(-1)
	for i := range x.Results {
		if h := &x.Results[i].Hypothesis; h.Score > surest {
			name, surest = h.ClassID, h.Score
		}
	}
	return name
}

// ExplainStranger says that a detection is none of the landmarks, and which those are.
func (d *FeaturesDecoder) ExplainStranger(f *Frame) string {
	var names []string
	for k := range f.Features {
		names = append(names, d.name(k))
	}
	return fmt.Sprintf("topic %s: a detection of %.40q is left out, expected one of %s (parameter features.ids)",
		d.topic, f.Stranger, strings.Join(names, ", "))
}

// PutFeatures fills the features of m with those of a frame; what it had is kept where it has space.
func PutFeatures(m *msgs.Features, features []policy.Feature) {
	m.Features = slices.Grow(m.Features[:0], len(features))[:len(features)]
	for k, p := range features {
		m.Features[k] = msgs.Feature{ID: uint32(k), Visible: p.Visible}
		if p.Visible {
			m.Features[k].X, m.Features[k].Y = p.X, p.Y
		}
	}
}
