package learner

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/node"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/ros"
)

// TestPlayed: the steps of a recorded flight, played with their clock as a player of bags does, drive encoder,
// recorder and learner as the flight did: the latents are those that were recorded, every row comes into the buffer,
// and a round of learning comes to its end.
func TestPlayed(t *testing.T) {
	if testing.Short() {
		t.Skip("three processes")
	}
	flight := filepath.Join("..", "replay", "testdata", "flight")
	bundle := "bundle_file:=" + must(filepath.Abs(filepath.Join("..", "..", "flight", "control", "testdata",
		"a.vnd")))(t)
	steps, recorded := played(t, flight)
	f := newField(t)
	found := map[int64][]float32{}
	must(ros.NewSubscription(f.n, "/quad/latent", node.LatentQoS(), func(m *msgs.Latent, _ ros.Info) {
		f.mu.Lock()
		found[bridge.Nanoseconds(m.Header.Stamp)] = slices.Clone(m.Mean)
		f.mu.Unlock()
		f.changed.Broadcast()
	}))(t)
	clock := must(ros.NewPublisher[rosgraphmsgs.Clock](f.n, "/clock", node.StepQoS()))(t)
	out := must(ros.NewRawPublisher(f.n, "/quad/step", "vnd/msg/Step", node.StepQoS()))(t)
	f.start("latent_encoder", bundle)
	f.start("transition_recorder", "directory:="+f.data, "buffer.segment_seconds:=2.0", "bag.least_free:=0")
	f.start("background_learner", append(append([]string(nil), tiny...), bundle, "directory:="+f.data, "new_rows:=200",
		"least_data:=4.0",
		"fit.model.latent:=4", "fit.model.hidden:=16", "fit.model.encoder_hidden:=16", "fit.model.encoder_dense:=16",
		"fit.model.decoder_hidden:=8")...)
	const listeners, clocks = 4, 3 // the test listens to steps too
	if err := errors.Join(ros.WaitForMatched(f.ctx, out, listeners),
		ros.WaitForMatched(f.ctx, clock, clocks)); err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if err := errors.Join(clock.Publish(&rosgraphmsgs.Clock{Clock: bridge.Time(s.at)}),
			out.PublishBytes(s.data)); err != nil {
			t.Fatal(err)
		}
		// So that the queue of nobody runs over, however busy the machine is.
		f.until("a latent of every step", func() bool { return found[s.stamp] != nil })
	}
	for stamp, z := range recorded {
		for j := range z {
			if d := math.Abs(float64(found[stamp][j] - z[j])); !(d < 1e-4) { // other kernels round otherwise
				t.Fatalf("latent of %d ns: %v, recorded was %v", stamp, found[stamp], z)
			}
		}
	}
	f.until("a round of learning", func() bool { return strings.Contains(f.status, ": round 1 on ") })
	f.kept(len(steps) - 1) // the last is not over
}

// kept waits until the buffer holds so many rows.
func (f *field) kept(n int) {
	f.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		segments, _, err := dataset.ReadDir(filepath.Join(f.data, "buffer"), 0.02)
		rows := 0
		for _, s := range segments {
			rows += len(s.Rows)
		}
		if err == nil && rows >= n {
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("%d rows in the buffer, expected at least %d; %v", rows, n, err)
		}
	}
}

// message of a bag.
type message struct {
	at, stamp int64 // ns
	data      []byte
}

// played returns the steps of a bag, and the latents of whole windows.
func played(t *testing.T, path string) (steps []message, latents map[int64][]float32) {
	t.Helper()
	b := must(bag.Open(path))(t)
	defer b.Close()
	latents = map[int64][]float32{}
	for m, err := range b.Messages("/quad/step", "/quad/latent") {
		if err != nil {
			t.Fatal(err)
		}
		if m.Topic == "/quad/latent" {
			var z msgs.Latent
			if err := cdr.Unmarshal(m.Data, &z); err != nil {
				t.Fatal(err)
			}
			latents[bridge.Nanoseconds(z.Header.Stamp)] = slices.Clone(z.Mean)
			continue
		}
		var s msgs.Step
		if err := cdr.Unmarshal(m.Data, &s); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, message{m.LogTime, bridge.Nanoseconds(s.Header.Stamp), slices.Clone(m.Data)})
	}
	return steps, latents
}
