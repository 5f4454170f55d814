package logs

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"vnd/msgs"
	actuatormsgs "vnd/msgs/actuator_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/motors"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// bagger writes a bag.
type bagger struct {
	t testing.TB
	w *bag.Writer
}

const bagBegin = int64(1_700_000_000_000_000_000)

func stampOf(s float64) int64 { return bagBegin + int64(math.Round(s*1e9)) }

func (b *bagger) add(name, typeName string) {
	d, _ := msgs.Lookup(typeName)
	x := bag.Topic{Name: name, Type: typeName, TypeHash: d.Hash, Definition: d.Definition()}
	if err := b.w.AddTopic(x); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bagger) write(name string, at float64, m cdr.Message) {
	data, err := cdr.Marshal(m)
	if err == nil {
		err = b.w.Write(&bag.Message{Topic: name, Type: m.TypeName(), LogTime: stampOf(at) + 1e6, Data: data})
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// row is what the nodes publish at a row of a log by motors; on the ground for two seconds.
func row(l *Log, i int) map[string]cdr.Message {
	s := &l.Series
	at := s[Motors].T[i]
	pose, imu, m := new(geometrymsgs.PoseStamped), new(sensormsgs.Imu), new(actuatormsgs.Actuators)
	state := quad.State{P: vec(s[Position].Row(i)), Q: quat(s[Attitude].Row(i))}
	bridge.PutPoseStamped(pose, stampOf(at), "world", state)
	bridge.PutImu(imu, stampOf(at), "base_link", vec(s[Rates].Row(i)))
	bridge.PutActuators(m, stampOf(at), "base_link", motors.Command(s[Motors].Row(i)))
	step, battery := msgs.NewStep(), &sensormsgs.BatteryState{Voltage: float32(16 - at/40)}
	step.Header.Stamp, step.GuardState = bridge.Time(stampOf(at)), uint8(guard.Policy)
	if at < 2 {
		step.GuardState = uint8(guard.Off)
	}
	battery.Header.Stamp = bridge.Time(stampOf(at))
	return map[string]cdr.Message{"/quad/mocap/pose": pose, "/quad/imu": imu, "/quad/motors": m, "/quad/step": step,
		"/quad/battery": battery}
}

// bagged writes a flight by motors as a bag: all topics in the namespace quad. leave names a topic that is left out,
// and also further ones of an imu.
func bagged(t testing.TB, l *Log, leave string, also ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bag")
	w, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bagger{t, w}
	for name, m := range row(l, 0) {
		if name != leave {
			b.add(name, m.TypeName())
		}
	}
	for _, name := range also {
		b.add(name, bridge.TypeImu)
		b.write(name, 0, &sensormsgs.Imu{})
	}
	for i, at := range l.Series[Motors].T {
		for name, m := range row(l, i) {
			if name != leave {
				b.write(name, at, m)
			}
		}
	}
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A flight by motors comes back out of its bag: in the air, on one clock, with all that a fit wants.
func TestBagsOfFlightsByMotorsAreRead(t *testing.T) {
	was := flown(20)
	path := bagged(t, was, "")
	if _, _, err := flightlog.ReadBag(path, flightlog.DefaultOptions()); err == nil ||
		!strings.Contains(err.Error(), "topic /quad/motors commands motors, and the steps have what these come to") {
		t.Errorf("as thrust and rates: %v", err)
	}
	l, err := Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for c, rate := range map[Channel]float64{Position: 100, Attitude: 100, Rates: 100, Motors: 100, Battery: 100} {
		if got := l.Series[c].Rate(); math.Abs(got-rate) > 1 {
			t.Errorf("%s at %g Hz, expected %g", c, got, rate)
		}
	}
	if _, err := l.Ready(0.02); err != nil {
		t.Fatal(err)
	}
	f, err := l.Flight(0.02)
	if err != nil || !f.Motors || !f.Battery || len(f.Segments) != 1 {
		t.Fatalf("%+v, %v", len(f.Segments), err)
	}
	s := f.Segments[0]
	if s[0].T < 1.9 || s[0].T > 2.1 || s[len(s)-1].T < 19.5 {
		t.Errorf("from %g to %g s, expected the flight from 2 to 20 s", s[0].T, s[len(s)-1].T)
	}
	for _, r := range s[10 : len(s)-10] {
		var m [4]float64
		var w [3]float64
		was.Series[Motors].mean(r.T, 0.02, 0.1, m[:])
		was.Series[Rates].linear(r.T, 0.1, w[:])
		if d := r.Rates.Sub(so3.Vec3{X: w[0], Y: w[1], Z: w[2]}).Norm(); d > 0.05 || math.Abs(r.Motors[0]-m[0]) > 0.02 {
			t.Fatalf("at %g s rates are off by %g rad/s, motors %v, expected %v", r.T, d, r.Motors, m)
		}
	}
}

func TestBagsWithoutAFlightByMotorsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		leave string
		also  []string
		want  string
	}{
		"no motors": {"/quad/motors", nil, "no motor commands; the log has position 100 Hz"},
		"no poses":  {"/quad/mocap/pose", nil, "no position; the log has body rates 100 Hz"},
		"two imus": {"/quad/imu", []string{"/a/imu", "/b/imu"},
			"2 topics of type sensor_msgs/msg/Imu: /a/imu, /b/imu, expected one"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Read(bagged(t, flown(5), c.leave, c.also...), nil)
			if err == nil {
				_, err = l.Ready(0.02)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, expected %q", err, c.want)
			}
		})
	}
	if _, err := Read(t.TempDir(), nil); err == nil ||
		!strings.Contains(err.Error(), "no .mcap or .db3 file in this folder") {
		t.Errorf("an empty folder: %v", err)
	}
}

// BenchmarkBagToFlight is a bag of 140 s of five topics at 100 Hz to rows of 0.02 s.
func BenchmarkBagToFlight(b *testing.B) {
	path := bagged(b, flown(140), "")
	for b.Loop() {
		l, err := Read(path, nil)
		if err == nil {
			_, err = l.Ready(0.02)
		}
		if err == nil {
			_, err = l.Flight(0.02)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
