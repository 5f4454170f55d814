package assemble

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	mocap4r2msgs "vnd/msgs/mocap4r2_msgs"
	motioncapturetrackinginterfaces "vnd/msgs/motion_capture_tracking_interfaces"
	navmsgs "vnd/msgs/nav_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	tf2msgs "vnd/msgs/tf2_msgs"
	"vnd/pkg/bag"
	"vnd/pkg/bridge"
	"vnd/pkg/cdr"
	"vnd/pkg/quad"
	"vnd/pkg/so3"
)

// inflated opens a file that is compressed by zstd.
func inflated(t testing.TB, path string) io.Reader {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(z.Close)
	return z
}

// recorded unpacks a bag that rosbag2 wrote.
func recorded(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	for in := tar.NewReader(inflated(t, filepath.Join("..", "bag", "testdata", name+".tar.zst"))); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, name)
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var text []byte
			if text, err = io.ReadAll(in); err == nil {
				err = os.WriteFile(path, text, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRecordedFlights compares steps out of bags of rosbag2 with the rows that the bags were made of, and states how far
// the causal velocity is from theirs, which was smoothed and saw the future.
func TestRecordedFlights(t *testing.T) {
	sources := []struct {
		name     string
		velocity float64 // stated rms error, m/s, of all axes together
	}{
		{"june_07_data_wind__log", 0.0282},
		{"march_11__rwik_test_ppo_rand_poly_seed0", 0.0772},
		{"june_03__chpoly_2d_seed1_mppi_2d_0", 0.1023},
	}
	for _, name := range []string{"flight_mcap", "flight_sqlite3"} {
		f, warnings, err := ReadBag(recorded(t, name), options(func(o *Options) { o.HoverThrottle = 0.5 }))
		if err != nil || len(warnings) > 0 || f.Name != name || len(f.Segments) != len(sources) {
			t.Fatalf("%s: flight %q of %d segments, warnings %v, error %v", name, f.Name, len(f.Segments), warnings, err)
		}
		for i, source := range sources {
			path := source.name + ".csv"
			want, _, err := ParseCSV(path, inflated(t, filepath.Join("testdata", "datt", path+".zst")), DefaultOptions())
			if err != nil || len(want.Segments) != 1 || len(want.Segments[0]) != len(f.Segments[i]) {
				t.Fatalf("%s: %d rows in the bag, error %v", path, len(f.Segments[i]), err)
			}
			var p, q, thrust, rates, squares float64
			for k, w := range want.Segments[0] {
				g := f.Segments[i][k]
				p = math.Max(p, g.State.P.Sub(w.State.P).Norm())
				q = math.Max(q, so3.Log(g.State.Q.Conj().Mul(w.State.Q)).Norm())
				thrust = math.Max(thrust, math.Abs(g.Command.Thrust/w.Command.Thrust-1))
				rates = math.Max(rates, g.Command.Rates.Sub(w.Command.Rates).Norm()/w.Command.Rates.Norm())
				d := g.State.V.Sub(w.State.V)
				squares += d.Dot(d)
			}
			rms := math.Sqrt(squares / float64(len(want.Segments[0])))
			t.Logf("%s, %s: position %.2g mm, attitude %.2g rad, thrust %.2g, rates %.2g; velocity %.0f mm/s rms", name, source.name, 1e3*p, q, thrust, rates, 1e3*rms)
			if p > 1e-5 || q > 1e-5 || thrust > 1e-5 || rates > 1e-3 {
				t.Errorf("%s, %s: position off by %g m, attitude %g rad, thrust %g, rates %g", name, source.name, p, q, thrust, rates)
			}
			if rms > 1.02*source.velocity || rms < 0.98*source.velocity {
				t.Errorf("%s, %s: velocity error %.4f m/s rms, stated %.4f", name, source.name, rms, source.velocity)
			}
		}
	}
}

// near compares flights row by row; slack is for what went through float32 or a rotation, velocity for velocities.
func near(t *testing.T, name string, got, want quad.Flight, slack, velocity float64) {
	t.Helper()
	if len(got.Segments) != len(want.Segments) {
		t.Errorf("%s: %d segments, expected %d", name, len(got.Segments), len(want.Segments))
		return
	}
	for i, segment := range want.Segments {
		if len(got.Segments[i]) != len(segment) {
			t.Errorf("%s: segment %d has %d rows, expected %d", name, i, len(got.Segments[i]), len(segment))
			return
		}
		for k, w := range segment {
			g := got.Segments[i][k]
			off := []float64{g.State.P.Sub(w.State.P).Norm(), so3.Log(g.State.Q.Conj().Mul(w.State.Q)).Norm(),
				math.Abs(g.Command.Thrust - w.Command.Thrust), g.Command.Rates.Sub(w.Command.Rates).Norm()}
			v := g.State.V.Sub(w.State.V).Norm()
			if slices.Max(off) > slack || v > velocity || math.Abs(g.T-w.T) > 1e-9 {
				t.Errorf("%s: segment %d, row %d: %+v, expected %+v", name, i, k, g, w)
				return
			}
		}
	}
}

// CSV to bag to steps are the same rows; what was float64 all the way is so to the last bits.
func TestThroughBag(t *testing.T) {
	for _, path := range []string{zigzag, agile} {
		moving := mustRead(t, path)
		still, _, err := parse(withoutVelocity(moving.Segments[0]))
		if err != nil {
			t.Fatal(err)
		}
		for _, storage := range []string{bag.MCAP, bag.SQLite} {
			for _, c := range []struct {
				odometry bool
				flight   quad.Flight
			}{{true, moving}, {false, still}} {
				dir := filepath.Join(t.TempDir(), "b")
				if err := WriteBag(dir, []quad.Flight{c.flight}, BagOptions{Storage: storage, Namespace: "/quad", Odometry: c.odometry}); err != nil {
					t.Fatal(err)
				}
				got, warnings, err := ReadBag(dir, DefaultOptions())
				if err != nil || len(warnings) > 0 {
					t.Fatalf("%s: warnings %v, error %v", dir, warnings, err)
				}
				near(t, fmt.Sprintf("%s, %s, odometry %v", path, storage, c.odometry), got, c.flight, 2e-6, 1e-9)
				for k, g := range got.Segments[0] {
					if w := c.flight.Segments[0][k]; g.State.P != w.State.P || g.Command.Rates != w.Command.Rates || g.T != w.T {
						t.Fatalf("row %d: %+v, expected %+v", k, g, w)
					}
				}
			}
		}
	}
}

func TestSeveralFlights(t *testing.T) {
	a, b := mustRead(t, zigzag), mustRead(t, agile)
	dir := filepath.Join(t.TempDir(), "b")
	if err := WriteBag(dir, []quad.Flight{a, b}, BagOptions{Odometry: true}); err != nil {
		t.Fatal(err)
	}
	got, _, err := ReadBag(dir, DefaultOptions())
	if err != nil || len(got.Segments) != 2 {
		t.Fatalf("%d segments, error %v", len(got.Segments), err)
	}
	if d := got.Segments[1][0].T - got.Segments[0][len(got.Segments[0])-1].T; math.Abs(d-5) > 1e-9 {
		t.Errorf("%g s between the flights", d)
	}
	for i, f := range []quad.Flight{a, b} {
		for k := range got.Segments[i] {
			got.Segments[i][k].T = f.Segments[0][k].T
		}
		near(t, f.Name, quad.Flight{Segments: got.Segments[i : i+1]}, f, 2e-6, 1e-9)
	}
	if err := WriteBag(dir, []quad.Flight{a}, BagOptions{}); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("over a bag: error %v", err)
	}
	if err := WriteBag(filepath.Join(t.TempDir(), "c"), []quad.Flight{{Name: "empty"}}, BagOptions{}); err == nil || err.Error() != "flight empty has no rows" {
		t.Errorf("a flight without rows: error %v", err)
	}
}

// The same flights make the same bytes.
func TestBagsAreReproducible(t *testing.T) {
	var first []byte
	for range 2 {
		dir := filepath.Join(t.TempDir(), "b")
		if err := WriteBag(dir, []quad.Flight{mustRead(t, zigzag)}, BagOptions{}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "b_0.mcap"))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(data, first) {
			t.Fatal("two bags of one flight differ")
		}
		first = data
	}
}

// said is a message of a made-up bag.
type said struct {
	topic string
	log   int64 // ns since epoch
	m     cdr.Message
}

// spoken writes the messages into a bag.
func spoken(t testing.TB, messages []said) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "lab")
	w, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		data, err := cdr.Marshal(m.m)
		if err != nil {
			t.Fatal(err)
		}
		known, _ := msgs.Lookup(m.m.TypeName())
		if err := w.AddTopic(bag.Topic{Name: m.topic, Type: known.Name, Definition: known.Definition()}); err != nil {
			t.Fatal(err)
		}
		at := epoch + m.log
		if err := w.Write(&bag.Message{Topic: m.topic, LogTime: at, PublishTime: at, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// stack is how a lab's topics say a state and a command at a stamp.
type stack struct {
	poseTopic, commandTopic string
	pose                    func(stamp int64, s quad.State) cdr.Message
	command                 func(stamp int64, c quad.Command) cdr.Message
}

func header(stamp int64, frame string) stdmsgs.Header {
	return stdmsgs.Header{Stamp: bridge.Time(stamp), FrameID: frame}
}

func geometryPose(s quad.State) geometrymsgs.Pose {
	var m geometrymsgs.PoseStamped
	bridge.PutPoseStamped(&m, 0, "", s)
	return m.Pose
}

func array(v so3.Vec3) [3]float32 { return [3]float32{float32(v.X), float32(v.Y), float32(v.Z)} }

const hover = 0.4

// own is vnd's own topics.
func own() stack {
	return stack{"/quad/mocap/odom", "/quad/command",
		func(stamp int64, s quad.State) cdr.Message {
			m := new(navmsgs.Odometry)
			bridge.PutOdometry(m, stamp, "map", "base_link", s)
			return m
		},
		func(stamp int64, c quad.Command) cdr.Message {
			m := new(msgs.ThrustRates)
			bridge.PutThrustRates(m, stamp, "base_link", c)
			return m
		}}
}

func mavros() stack {
	return stack{"/mavros/local_position/pose", "/mavros/setpoint_raw/attitude",
		func(stamp int64, s quad.State) cdr.Message {
			m := new(geometrymsgs.PoseStamped)
			bridge.PutPoseStamped(m, stamp, "map", s)
			return m
		},
		func(stamp int64, c quad.Command) cdr.Message {
			m := new(mavrosmsgs.AttitudeTarget)
			bridge.PutAttitudeTarget(m, stamp, "base_link", c, hover)
			return m
		}}
}

func px4() stack {
	return stack{"/fmu/out/vehicle_odometry", "/fmu/in/vehicle_rates_setpoint",
		func(stamp int64, s quad.State) cdr.Message {
			s = bridge.SwapState(s)
			return &px4msgs.VehicleOdometry{TimestampSample: uint64(stamp) / 1000, PoseFrame: 1, VelocityFrame: 1, Position: array(s.P),
				Velocity: array(s.V), Q: [4]float32{float32(s.Q.W), float32(s.Q.X), float32(s.Q.Y), float32(s.Q.Z)}}
		},
		func(stamp int64, c quad.Command) cdr.Message {
			m := new(px4msgs.VehicleRatesSetpoint)
			bridge.PutVehicleRatesSetpoint(m, stamp, c, hover)
			return m
		}}
}

// crazyswarm has motion capture of two bodies, and commands without stamps.
func crazyswarm() stack {
	return stack{"/poses", "/cf1/cmd_vel_legacy",
		func(stamp int64, s quad.State) cdr.Message {
			other := quad.State{P: so3.Vec3{X: 9}, Q: so3.Identity()}
			return &motioncapturetrackinginterfaces.NamedPoseArray{Header: header(stamp, "world"), Poses: []motioncapturetrackinginterfaces.NamedPose{
				{Name: "cf2", Pose: geometryPose(other)}, {Name: "cf1", Pose: geometryPose(s)}}}
		},
		func(_ int64, c quad.Command) cdr.Message {
			w := c.Rates.Scale(180 / math.Pi)
			return &geometrymsgs.Twist{Linear: geometrymsgs.Vector3{X: w.Y, Y: w.X, Z: 65535 * hover * c.Thrust / quad.Gravity}, Angular: geometrymsgs.Vector3{Z: -w.Z}}
		}}
}

func optitrack() stack {
	s := mavros()
	s.poseTopic = "/rigid_bodies"
	s.pose = func(stamp int64, s quad.State) cdr.Message {
		return &mocap4r2msgs.RigidBodies{Header: header(stamp, "map"), Rigidbodies: []mocap4r2msgs.RigidBody{{RigidBodyName: "drone", Pose: geometryPose(s)}}}
	}
	return s
}

func transforms() stack {
	s := mavros()
	s.poseTopic = "/tf"
	s.pose = func(stamp int64, s quad.State) cdr.Message {
		p := geometryPose(s)
		camera := geometrymsgs.TransformStamped{Header: header(stamp, "drone"), ChildFrameID: "camera"}
		drone := geometrymsgs.TransformStamped{Header: header(stamp, "map"), ChildFrameID: "drone", Transform: geometrymsgs.Transform{
			Translation: geometrymsgs.Vector3{X: p.Position.X, Y: p.Position.Y, Z: p.Position.Z}, Rotation: p.Orientation}}
		return &tf2msgs.TFMessage{Transforms: []geometrymsgs.TransformStamped{camera, drone}}
	}
	return s
}

func steps() stack {
	return stack{"/quad/step", "/quad/step",
		func(stamp int64, s quad.State) cdr.Message {
			m := new(msgs.Step)
			m.Header = header(stamp, "map")
			m.Pose = geometryPose(s)
			m.Velocity = geometrymsgs.Vector3{X: s.V.X, Y: s.V.Y, Z: s.V.Z}
			return m
		}, nil}
}

// tell says a flight in a lab's way; poses are recorded 3 ms after their stamps, commands at theirs.
func tell(s stack, f quad.Flight) []said {
	var out []said
	for _, step := range f.Segments[0] {
		at := nanoseconds(step.T)
		m := s.pose(epoch+at, step.State)
		if own, ok := m.(*msgs.Step); ok {
			c := step.Command
			own.CommandSent = [4]float64{c.Thrust, c.Rates.X, c.Rates.Y, c.Rates.Z}
		} else {
			out = append(out, said{s.commandTopic, at, s.command(epoch+at, step.Command)})
		}
		out = append(out, said{s.poseTopic, at + 3e6, m})
	}
	return out
}

// A flight is the same in the words of every stack.
func TestStacks(t *testing.T) {
	moving := mustRead(t, agile)
	still, _, err := parse(withoutVelocity(moving.Segments[0]))
	if err != nil {
		t.Fatal(err)
	}
	throttle := func(o *Options) { o.HoverThrottle = hover }
	for name, c := range map[string]struct {
		stack
		configure func(*Options)
		want      quad.Flight
		slack     float64
		warning   string
	}{
		"vnd":       {own(), nil, moving, 2e-6, ""},
		"steps":     {steps(), nil, moving, 1e-12, ""},
		"mavros":    {mavros(), throttle, still, 1e-5, ""},
		"px4":       {px4(), throttle, moving, 1e-5, ""},
		"optitrack": {optitrack(), throttle, still, 1e-5, ""},
		"transforms": {transforms(), func(o *Options) { o.HoverThrottle, o.Body = hover, "drone" },
			still, 1e-5, ""},
		"crazyswarm": {crazyswarm(), func(o *Options) { o.HoverThrottle, o.Body, o.CommandInterface = hover, "cf1", bridge.Crazyswarm },
			still, 1e-5, "topic /cf1/cmd_vel_legacy: its messages have no stamps: the times of their recording are taken"},
	} {
		path := spoken(t, tell(c.stack, moving))
		f, warnings, err := ReadBag(path, options(c.configure))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := joined(warnings); got != prefixed(path, c.warning) {
			t.Errorf("%s: warnings %q, expected %q", name, got, c.warning)
		}
		near(t, name, f, c.want, c.slack, 1e-3)
	}
}

func prefixed(path, warning string) string {
	if warning == "" {
		return ""
	}
	return path + ": " + warning
}

// joined joins warnings.
func joined(warnings []Warning) string {
	var out []string
	for _, w := range warnings {
		out = append(out, w.String())
	}
	return strings.Join(out, "; ")
}
