package ros_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/cyclone"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw/overdds"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// Topics and QoS of the benchmark, on every layer.
var (
	ping = dds.Topic{Name: "rt/ping", Type: "geometry_msgs::msg::dds_::PoseStamped_"}
	pong = dds.Topic{Name: "rt/pong", Type: "geometry_msgs::msg::dds_::PoseStamped_"}
)

// BenchmarkRoundTrip sends a PoseStamped to another process and back at 1 kHz over Cyclone
// DDS. It takes turns of a tenth of a second: publishers and subscriptions, pkg/ros2/dds
// alone, and a program in C. The first messages of a turn come after a pause and do not
// count. It reports p50 and p99 in µs, and their ratio to C's.
//
// A processor without work sleeps, and wakes more slowly than a message passes the library.
// C pays for that at each of the four threads of a trip. Go's monitor runs every few tens
// of microseconds and keeps our processors awake. Compare the layers where processors are
// awake for both.
func BenchmarkRoundTrip(b *testing.B) {
	wire := rostest.Environ()
	awakeAndAsleep(b, func(b *testing.B) {
		compare(b, []trip{{name: "ros", ping: rosPing(b, wire)}, {name: "dds", ping: ddsPing(b, wire)},
			{name: "c", ping: cPing(b)}})
	})
}

func awakeAndAsleep(b *testing.B, f func(*testing.B)) {
	b.Run("awake", func(b *testing.B) {
		keepAwake(b)
		f(b)
	})
	b.Run("asleep", f)
}

// keepAwake keeps each processor busy at low priority until the benchmark ends.
func keepAwake(b *testing.B) {
	program := compileC(b)
	ended, end := context.WithCancel(context.Background())
	for i := range runtime.NumCPU() {
		p := exec.CommandContext(ended, program, "awake", strconv.Itoa(i))
		ready := must(p.StdoutPipe())(b)
		if err := p.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { p.Wait() })
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			b.Fatalf("processor %d: %v", i, err)
		}
	}
	b.Cleanup(end) // before they are waited for
}

// trip is one way to send messages there and back.
type trip struct {
	name string
	ping func(n int) []time.Duration
	all  []time.Duration
}

// compare reports the percentiles of trips in turns, and the ratio of the first to the last, the yardstick.
func compare(b *testing.B, pings []trip) {
	yardstick := pings[len(pings)-1].name
	const turns, each, first = 50, 100, 10
	for range turns {
		for i := range pings {
			pings[i].all = append(pings[i].all, pings[i].ping(first + each)[first:]...)
		}
	}
	for _, p := range []int{50, 99} {
		at := map[string]float64{}
		for _, c := range pings {
			slices.Sort(c.all)
			at[c.name] = float64(c.all[len(c.all)*p/100].Nanoseconds()) / 1e3
			b.ReportMetric(at[c.name], fmt.Sprintf("%s-p%d-µs", c.name, p))
		}
		b.ReportMetric(at[pings[0].name]/at[yardstick], fmt.Sprintf("%s/%s-p%d", pings[0].name, yardstick, p))
	}
	b.ReportMetric(0, "ns/op")
}

// echo starts the program that sends messages back, in an environment.
func echo(b *testing.B, program string, env []string) {
	b.Helper()
	p, stderr := exec.Command(os.Args[0]), new(strings.Builder)
	p.Env = append(append(os.Environ(), env...), programVariable+"="+program, "ROS_LOG_DIR="+os.TempDir())
	p.Stderr = stderr
	if err := p.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		p.Process.Signal(os.Interrupt)
		if err := p.Wait(); err != nil {
			b.Errorf("%v: %s", err, stderr)
		}
	})
}

// stopwatch measures round trips at 1 kHz.
type stopwatch struct {
	next, sent time.Time
	took       []time.Duration
}

func (s *stopwatch) start() {
	s.next = s.next.Add(time.Millisecond)
	time.Sleep(time.Until(s.next))
	s.sent = time.Now()
}

func (s *stopwatch) stop() { s.took = append(s.took, time.Since(s.sent)) }

func rosPing(b *testing.B, env []string) func(n int) []time.Duration {
	echo(b, "rosecho", env)
	node := newNode(b, overTheWireIn(b, variables(env)), "pinger")
	pub := must(ros.NewPublisher[geometrymsgs.PoseStamped](node, "ping", ros.DefaultQoS()))(b)
	var left int
	var watch stopwatch
	var stop context.CancelFunc
	sub := must(ros.NewSubscription(node, "pong", ros.DefaultQoS(), func(m *geometrymsgs.PoseStamped, _ ros.Info) {
		watch.stop()
		if left--; left == 0 {
			stop()
			return
		}
		watch.start()
		if err := pub.Publish(m); err != nil {
			b.Error(err)
			stop()
		}
	}))(b)
	if err := errors.Join(ros.WaitForMatched(within(b), pub, 1), ros.WaitForMatched(within(b), sub, 1)); err != nil {
		b.Fatal(err)
	}
	return func(n int) []time.Duration {
		var ctx context.Context
		ctx, stop = context.WithCancel(context.Background())
		defer stop()
		left, watch = n, stopwatch{next: time.Now()}
		m := &geometrymsgs.PoseStamped{}
		m.Header.FrameID = "world"
		watch.start()
		if err := errors.Join(pub.Publish(m), node.Context().Spin(ctx)); err != nil {
			b.Fatal(err)
		}
		return watch.took
	}
}

func rosEcho() {
	ros.MainContext(ros.Options{}, func(_ context.Context, c *ros.Context) error {
		n, err := c.NewNode("echo")
		if err != nil {
			return err
		}
		pub, err := ros.NewPublisher[geometrymsgs.PoseStamped](n, "pong", ros.DefaultQoS())
		if err != nil {
			return err
		}
		_, err = ros.NewSubscription(n, "ping", ros.DefaultQoS(), func(m *geometrymsgs.PoseStamped, _ ros.Info) {
			if err := pub.Publish(m); err != nil {
				n.Log().Error().Err(err).Send()
			}
		})
		return err
	})
}

// ddsPair is a writer and a reader without ROS.
type ddsPair struct {
	p dds.Participant
	w dds.Writer
	r dds.Reader
}

func newPair(getenv func(string) string, write, read dds.Topic) (*ddsPair, error) {
	interfaces, err := overdds.Interfaces()
	if err != nil {
		return nil, err
	}
	config, err := overdds.Environment(getenv, interfaces)
	if err != nil {
		return nil, err
	}
	p, err := cyclone.Open(cyclone.Config{Domain: int(config.Domain), XML: config.XML})
	if err != nil {
		return nil, err
	}
	pair := &ddsPair{p: p}
	if pair.w, err = p.NewWriter(write, ros.DefaultQoS(), nil); err != nil {
		return nil, err
	}
	pair.r, err = p.NewReader(read, ros.DefaultQoS(), pair)
	return pair, err
}

// serve calls f with each sample until it returns false.
func (p *ddsPair) serve(f func(data []byte) bool) error {
	var ready []dds.Ready
	var data []byte
	keep := func(s *dds.Sample) { data = append(data[:0], s.Data...) }
	for {
		var err error
		if ready, err = p.p.Wait(-1, ready[:0]); err != nil {
			return err
		}
		for {
			n, err := p.r.Take(1, keep)
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			if !f(data) {
				return nil
			}
		}
	}
}

func ddsPing(b *testing.B, env []string) func(n int) []time.Duration {
	echo(b, "ddsecho", env)
	values := variables(env)
	pair := must(newPair(func(key string) string { return values[key] }, ping, pong))(b)
	b.Cleanup(func() { pair.p.Close() })
	for deadline := time.Now().Add(patience); pair.w.Status().Matched == 0 || pair.r.Status().Matched == 0; {
		if time.Now().After(deadline) {
			b.Fatal("no echo")
		}
		time.Sleep(time.Millisecond)
	}
	m := &geometrymsgs.PoseStamped{}
	m.Header.FrameID = "world"
	data := must(cdr.Marshal(m))(b)
	return func(n int) []time.Duration {
		watch := stopwatch{next: time.Now()}
		watch.start()
		err := pair.w.Write(data, 0)
		if err == nil {
			err = pair.serve(func(data []byte) bool {
				watch.stop()
				if n--; n == 0 {
					return false
				}
				watch.start()
				return pair.w.Write(data, 0) == nil
			})
		}
		if err != nil {
			b.Fatal(err)
		}
		return watch.took
	}
}

// yardstick compiles the program in C.
func compileC(b *testing.B) (program string) {
	b.Helper()
	const folder = "../dds/cyclone"
	program = filepath.Join(b.TempDir(), "roundtrip")
	out, err := exec.Command("gcc", "-O2", "-I"+folder, "-I../dds/native", "-DDDS_NDEBUG", "-o", program,
		folder+"/testdata/bench/roundtrip.c", folder+"/blob.c", "-lddsc", "-lpthread").CombinedOutput()
	if err != nil {
		b.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// cPing runs the program in C of pkg/ros2/dds/cyclone, which sends 104 bytes.
func cPing(b *testing.B) func(n int) []time.Duration {
	program := compileC(b)
	xml := fmt.Sprintf(`<General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>`+
		`<AllowMulticast>false</AllowMulticast></General>`+
		`<Discovery><Tag>vnd_c_%d</Tag><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address="127.0.0.1"/>`+
		`</Peers></Discovery>`, os.Getpid())
	return timed(b, program, []string{"echo", "waitset", xml}, []string{"ping", "waitset", xml})
}

// timed runs a program twice: to send messages back, and to send them and print the ns that each trip took.
func timed(b *testing.B, program string, echo, ping []string) func(n int) []time.Duration {
	ended, end := context.WithCancel(context.Background())
	b.Cleanup(end)
	if err := exec.CommandContext(ended, program, echo...).Start(); err != nil {
		b.Fatal(err)
	}
	c := exec.CommandContext(ended, program, ping...)
	stdin, stdout := must(c.StdinPipe())(b), must(c.StdoutPipe())(b)
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Scan() // "ready"
	return func(n int) (took []time.Duration) {
		fmt.Fprintln(stdin, n)
		for len(took) < n && lines.Scan() {
			ns, err := time.ParseDuration(lines.Text() + "ns")
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, ns)
		}
		return took
	}
}

func ddsEcho() {
	pair, err := newPair(os.Getenv, pong, ping)
	if err == nil {
		go func() {
			err := pair.serve(func(data []byte) bool { return pair.w.Write(data, 0) == nil })
			if err != nil {
				io.WriteString(os.Stderr, err.Error())
			}
		}()
		ros.MainContext(ros.Options{Backend: ros.InProcess(inproc.NewDomain())},
			func(context.Context, *ros.Context) error { return nil })
	}
	io.WriteString(os.Stderr, err.Error())
	os.Exit(1)
}

// BenchmarkPublishTake is the path of a message through this package alone.
func BenchmarkPublishTake(b *testing.B) {
	n := alone(b)
	must(ros.NewSubscription(n, "x", ros.DefaultQoS(), func(*geometrymsgs.PoseStamped, ros.Info) {}))(b)
	pub := must(ros.NewPublisher[geometrymsgs.PoseStamped](n, "x", ros.DefaultQoS()))(b)
	m := &geometrymsgs.PoseStamped{}
	m.Header.FrameID = "world"
	turn := ros.SpinOnce(n.Context())
	turn()
	b.ReportAllocs()
	for b.Loop() {
		if err := pub.Publish(m); err != nil {
			b.Fatal(err)
		}
		turn()
	}
}

// environment is rostest.Environ as a map.
func environment() map[string]string { return variables(rostest.Environ()) }

// variables are pairs of name and value by name.
func variables(pairs []string) map[string]string {
	env := map[string]string{}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return env
}
