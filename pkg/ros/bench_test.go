package ros_test

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/cdr"
	"vnd/pkg/dds"
	"vnd/pkg/dds/cyclone"
	"vnd/pkg/dds/inproc"
	"vnd/pkg/rmw/overdds"
	"vnd/pkg/ros"
)

// The topics and the QoS of the benchmark, on every layer.
var (
	ping = dds.Topic{Name: "rt/ping", Type: "geometry_msgs::msg::dds_::PoseStamped_"}
	pong = dds.Topic{Name: "rt/pong", Type: "geometry_msgs::msg::dds_::PoseStamped_"}
)

// BenchmarkRoundTrip sends a PoseStamped to another process and back at 1 kHz over
// Cyclone DDS: on pkg/dds alone, and through publishers and subscriptions.
func BenchmarkRoundTrip(b *testing.B) {
	b.Run("dds", func(b *testing.B) { roundTrip(b, "ddsecho", ddsTrips) })
	b.Run("ros", func(b *testing.B) { roundTrip(b, "rosecho", rosTrips) })
}

// roundTrip measures n trips to the program that answers.
func roundTrip(b *testing.B, program string, trips func(b *testing.B, n int, done func()) error) {
	p, _, stderr := start(b, program)
	defer func() {
		p.Process.Signal(os.Interrupt)
		if err := p.Wait(); err != nil {
			b.Errorf("%v: %s", err, stderr)
		}
	}()
	const warmUp = 200
	var took []time.Duration
	var sent time.Time
	first := func() { sent = time.Now() }
	first()
	err := trips(b, warmUp+b.N, func() {
		took = append(took, time.Since(sent))
		time.Sleep(time.Millisecond - time.Since(sent)%time.Millisecond)
		first()
	})
	if err != nil {
		b.Fatal(err)
	}
	took = took[warmUp:]
	slices.Sort(took)
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Nanoseconds()) / 1e3 }
	b.ReportMetric(at(0.5), "p50-µs")
	b.ReportMetric(at(0.99), "p99-µs")
	b.ReportMetric(0, "ns/op")
}

func rosTrips(b *testing.B, n int, done func()) error {
	node := newNode(b, overTheWire(b), "pinger")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	pub, err := ros.NewPublisher[geometrymsgs.PoseStamped](node, "ping", ros.DefaultQoS())
	if err != nil {
		return err
	}
	sub, err := ros.NewSubscription(node, "pong", ros.DefaultQoS(), func(m *geometrymsgs.PoseStamped, _ ros.Info) {
		done()
		if n--; n == 0 {
			stop()
			return
		}
		if err := pub.Publish(m); err != nil {
			b.Error(err)
			stop()
		}
	})
	if err != nil {
		return err
	}
	if err := ros.WaitForMatched(within(b), pub, 1); err != nil {
		return err
	}
	if err := ros.WaitForMatched(within(b), sub, 1); err != nil {
		return err
	}
	m := &geometrymsgs.PoseStamped{}
	m.Header.FrameID = "world"
	if err := pub.Publish(m); err != nil {
		return err
	}
	return node.Context().Spin(ctx)
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

// ddsPair is a writer and a reader of a process that knows no ROS.
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

func ddsTrips(b *testing.B, n int, done func()) error {
	env := environment()
	pair, err := newPair(func(key string) string { return env[key] }, ping, pong)
	if err != nil {
		return err
	}
	defer pair.p.Close()
	for deadline := time.Now().Add(patience); pair.w.Status().Matched == 0 || pair.r.Status().Matched == 0; {
		if time.Now().After(deadline) {
			b.Fatal("no echo")
		}
		time.Sleep(time.Millisecond)
	}
	m := &geometrymsgs.PoseStamped{}
	m.Header.FrameID = "world"
	data, err := cdr.Marshal(m)
	if err != nil {
		return err
	}
	if err := pair.w.Write(data, 0); err != nil {
		return err
	}
	return pair.serve(func(data []byte) bool {
		done()
		if n--; n == 0 {
			return false
		}
		if err := pair.w.Write(data, 0); err != nil {
			b.Error(err)
			return false
		}
		return true
	})
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
		ros.MainContext(ros.Options{Backend: ros.InProcess(inproc.NewDomain())}, func(context.Context, *ros.Context) error { return nil })
	}
	io.WriteString(os.Stderr, err.Error())
	os.Exit(1)
}

// BenchmarkPublishTake is a message's way through this package alone.
func BenchmarkPublishTake(b *testing.B) {
	n := alone(b)
	must(ros.NewSubscription(n, "x", ros.DefaultQoS(), func(*geometrymsgs.PoseStamped, ros.Info) {}))(b)
	pub := must(ros.NewPublisher[geometrymsgs.PoseStamped](n, "x", ros.DefaultQoS()))(b)
	m := &geometrymsgs.PoseStamped{}
	m.Header.FrameID = "world"
	turn := ros.Turner(n.Context())
	turn()
	b.ReportAllocs()
	for b.Loop() {
		if err := pub.Publish(m); err != nil {
			b.Fatal(err)
		}
		turn()
	}
}

// environment is loopback by name.
func environment() map[string]string {
	env := map[string]string{}
	for _, pair := range loopback() {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return env
}
