package bridge

import (
	"math"
	"slices"
	"strings"
	"testing"

	"vnd/msgs"
	apriltagmsgs "vnd/msgs/apriltag_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	visionmsgs "vnd/msgs/vision_msgs"
	"vnd/pkg/flight/policy"
	"vnd/pkg/ros2/cdr"
)

// pixels is a camera of 400 and 500 pixels a focal length, whose axis is at 320, 240.
var pixels = []float64{400, 500, 320, 240}

var taken = stdmsgs.Header{Stamp: Time(5e9)}

// own is a frame of three landmarks in our own message, the first of them hidden.
func own() *msgs.Features {
	m := &msgs.Features{Header: taken}
	PutFeatures(m, []policy.Feature{{X: 9, Y: 9}, {X: 0.25, Y: -0.5, Visible: true}, {X: 0.125, Y: 1, Visible: true}})
	return m
}

// tags and detections show the same, and one more thing.
func tags(ids ...int32) *apriltagmsgs.AprilTagDetectionArray {
	m := &apriltagmsgs.AprilTagDetectionArray{Header: taken}
	at := []apriltagmsgs.Point{{X: 420, Y: -10}, {X: 370, Y: 740}, {X: 1, Y: 1}}
	for i, id := range ids {
		m.Detections = append(m.Detections, apriltagmsgs.AprilTagDetection{ID: id, Centre: at[i]})
	}
	return m
}

func detections(names ...string) *visionmsgs.Detection2DArray {
	m := &visionmsgs.Detection2DArray{Header: taken}
	at := []visionmsgs.Point2D{{X: 420, Y: -10}, {X: 370, Y: 740}, {X: 1, Y: 1}}
	for i, name := range names {
		x := visionmsgs.Detection2D{Results: []visionmsgs.ObjectHypothesisWithPose{
			{Hypothesis: visionmsgs.ObjectHypothesis{ClassID: "unlikely", Score: 0.1}},
			{Hypothesis: visionmsgs.ObjectHypothesis{ClassID: name, Score: 0.9}}}}
		x.Bbox.Center.Position = at[i]
		m.Detections = append(m.Detections, x)
	}
	return m
}

func decodeFrame(t *testing.T, o FeaturesOptions, m cdr.Message, n int) (*Frame, *FeaturesDecoder, error) {
	t.Helper()
	d, err := NewFeaturesDecoder("/quad/x", o)
	if err != nil {
		t.Fatal(err)
	}
	data, err := cdr.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decode(data, n); err != nil { // a second one is read like the first
		return nil, d, err
	}
	f, err := d.Decode(data, n)
	return f, d, err
}

// TestFeaturesOfEachSource: each message shows the landmarks in the policy's order, in focal lengths.
func TestFeaturesOfEachSource(t *testing.T) {
	unnamed := detections("", "", "")
	for i := range unnamed.Detections {
		unnamed.Detections[i].Results, unnamed.Detections[i].ID = nil, []string{"door", "sign", "cat"}[i]
	}
	at := func(source string, ids ...string) FeaturesOptions {
		return FeaturesOptions{Source: source, Intrinsics: pixels, IDs: ids}
	}
	names := []string{"lamp", "door", "sign"}
	want := []policy.Feature{{}, {X: 0.25, Y: -0.5, Visible: true}, {X: 0.125, Y: 1, Visible: true}}
	for name, c := range map[string]struct {
		o        FeaturesOptions
		m        cdr.Message
		stranger string
	}{
		"features":             {FeaturesOptions{Source: Features}, own(), ""},
		"tags":                 {at(AprilTags), tags(1, 2, 17), "17"},
		"tags by number":       {at(AprilTags, "7", "40", "3"), tags(40, 3), ""},
		"detections":           {at(Detections, names...), detections("door", "sign", "cat"), "cat"},
		"detections by ids":    {at(Detections, names...), unnamed, "cat"},
		"detections, numbered": {at(Detections), detections("1", "2"), ""},
	} {
		f, d, err := decodeFrame(t, c.o, c.m, 3)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f.Stamp != 5e9 || !slices.Equal(f.Features, want) || f.Stranger != c.stranger {
			t.Errorf("%s: %+v, want %v and %q left out", name, f, want, c.stranger)
		}
		if c.stranger != "" && !strings.Contains(d.ExplainStranger(f), `a detection of "`+c.stranger+`" is left out, `+
			"expected one of "+d.name(0)+", "+d.name(1)) {
			t.Errorf("%s: %s", name, d.ExplainStranger(f))
		}
	}
}

// TestFramesThatAreRefused: the error names the topic, the field and what was expected.
func TestFramesThatAreRefused(t *testing.T) {
	spoilt := func(spoil func(m *msgs.Features)) cdr.Message {
		m := own()
		spoil(m)
		return m
	}
	at := func(o FeaturesOptions) FeaturesOptions { o.Intrinsics = pixels; return o }
	nan := tags(1)
	nan.Detections[0].Centre.Y = math.NaN()
	unstamped := detections("1")
	unstamped.Header.Stamp = Time(0)
	for want, c := range map[string]struct {
		o FeaturesOptions
		m cdr.Message
	}{
		"2 features, expected the policy's 3 landmarks, seen or not": {FeaturesOptions{Source: Features},
			spoilt(func(m *msgs.Features) { m.Features = m.Features[1:] })},
		"features[2].id is 3, expected 0 to 2": {FeaturesOptions{Source: Features},
			spoilt(func(m *msgs.Features) { m.Features[2].ID = 3 })},
		"features[2]: landmark 1 is there twice": {FeaturesOptions{Source: Features},
			spoilt(func(m *msgs.Features) { m.Features[2].ID = 1 })},
		"features[1]: landmark 1 is seen at NaN, -0.5, expected finite numbers": {FeaturesOptions{Source: Features},
			spoilt(func(m *msgs.Features) { m.Features[1].X = math.NaN() })},
		"landmark 2 is seen at 0.125, +Inf, expected finite": {FeaturesOptions{Source: Features},
			spoilt(func(m *msgs.Features) { m.Features[2].Y = math.Inf(1) })},
		"the stamp is 0, expected that of the image":     {at(FeaturesOptions{Source: Detections}), unstamped},
		"detections[0]: landmark 1 is seen at 0.25, NaN": {at(FeaturesOptions{Source: AprilTags}), nan},
		"detections[1]: landmark 2 is there twice":       {at(FeaturesOptions{Source: AprilTags}), tags(2, 2)},
		"parameter features.ids has 2 names, expected one for each of the policy's 3 landmarks": {
			at(FeaturesOptions{Source: AprilTags, IDs: []string{"1", "2"}}), tags(1)},
	} {
		if f, _, err := decodeFrame(t, c.o, c.m, 3); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "topic /quad/x: ") {
			t.Errorf("%+v, error %v, want one with %q", f, err, want)
		}
	}
	d, err := NewFeaturesDecoder("/quad/x", FeaturesOptions{Source: Features})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decode([]byte{0, 1, 0, 0, 9, 9}, 3); err == nil ||
		!strings.HasPrefix(err.Error(), "topic /quad/x: ") {
		t.Errorf("a torn message: %v", err)
	}
}

// TestFeaturesOptionsThatAreRefused, and the topic of each source.
func TestFeaturesOptionsThatAreRefused(t *testing.T) {
	for want, o := range map[string]FeaturesOptions{
		"cx, cy in pixels for features.source apriltags": {Source: AprilTags},
		"features.intrinsics is [0 500 320 240]":         {Source: Detections, Intrinsics: []float64{0, 500, 320, 240}},
		`features.ids has "a" twice`:                     {Source: Features, IDs: []string{"a", "b", "a"}},
	} {
		if _, err := NewFeaturesDecoder("x", o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want one with %q", o, err, want)
		}
	}
	for source, want := range map[string][2]string{Features: {"features", "vnd/msg/Features"},
		Detections: {"detections", "vision_msgs/msg/Detection2DArray"},
		AprilTags:  {"detections", "apriltag_msgs/msg/AprilTagDetectionArray"}} {
		topic, typeName := (&FeaturesOptions{Source: source}).Topic()
		if topic != want[0] || typeName != want[1] {
			t.Errorf("%s: topic %s of %s", source, topic, typeName)
		}
		if _, known := msgs.Lookup(typeName); !known {
			t.Errorf("%s is not known", typeName)
		}
	}
}
