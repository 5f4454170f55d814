package node_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// BenchmarkLatency is the time from a sample of motion capture sent to its command sent, by the middleware's own stamps
// of both, in flight: simulator, encoder and controller as processes, in real time. It is of as many ticks as a second
// has for each iteration, one in a thousandth of a flight with -benchtime 60x. VND_BENCH_RATE is the ticks' rate in Hz.
func BenchmarkLatency(b *testing.B) {
	rate := os.Getenv("VND_BENCH_RATE")
	if rate == "" {
		rate = "50.0"
	}
	l := newLab(b)
	path := must(filepath.Abs(filepath.Join("..", "flight", "control", "testdata", "a.vnd")))(b)
	sent := map[int64]ros.Time{} // samples by stamp, of the spinning goroutine
	took := make(chan time.Duration, 1000)
	must(ros.NewSubscription(l.n, "/quad/mocap/pose", ros.QoS{Depth: 100},
		func(m *geometrymsgs.PoseStamped, i ros.Info) {
			if len(sent) > 1000 {
				clear(sent)
			}
			sent[bridge.Nanoseconds(m.Header.Stamp)] = i.Source
		}))(b)
	deep := node.CommandQoS()
	deep.Depth = 100
	must(ros.NewSubscription(l.n, "/quad/command", deep, func(m *msgs.ThrustRates, i ros.Info) {
		if at, ok := sent[bridge.Nanoseconds(m.Header.Stamp)]; ok {
			took <- time.Duration(i.Source - at)
		}
	}))(b)
	l.start("quad_sim")
	l.start("latent_encoder", "-p", "bundle_file:="+path, "-p", "rate:="+rate)
	l.start("policy_controller", "-p", "bundle_file:="+path, "-p", "rate:="+rate, "-p", "autostart:=true")
	for range 100 { // discovery, first allocations
		<-took
	}
	var all []time.Duration
	for b.Loop() {
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			all = append(all, <-took)
		}
	}
	slices.Sort(all)
	for _, q := range []struct {
		name  string
		share float64
	}{{"p50-µs", .5}, {"p99-µs", .99}, {"p99.9-µs", .999}} {
		b.ReportMetric(float64(all[int(q.share*float64(len(all)-1))].Nanoseconds())/1e3, q.name)
	}
	b.ReportMetric(float64(len(all))/float64(b.N), "ticks/op")
}
