// Package pushlogtest makes ticks of push_controller, and bags of them, for tests.
package pushlogtest

import (
	"math"
	"path/filepath"
	"testing"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// Begin is the stamp of the first tick, ns.
const Begin = int64(1e18)

// Pushes are those of a box in the prior, n of so many ticks each: the tool goes ahead, to and fro, and ends there.
func Pushes(box pusher.Robot, n, ticks int) (all []*msgs.PushStep) {
	sys, none := box.System(), make([]float32, 10)
	stamp := Begin
	for push := range n {
		x := pusher.State{Tool: [2]float64{-0.1, 0.03 * math.Sin(float64(push))}}
		var s [10]float32
		var a [2]float32
		x.Write(s[:])
		for k := range ticks {
			t := float64(k) * box.Dt
			c := pusher.Command{0.1 + 0.1*math.Sin(9*t+float64(push)), 0.05 * math.Cos(5*t)}
			m := &msgs.PushStep{Seq: uint64(len(all)), Push: uint64(push + 1), Box: x.Box, Tool: x.Tool, Command: c,
				Goal: [3]float64{0.2}, BundleID: "a", There: k == ticks-1}
			m.Header.Stamp, m.Header.FrameID = bridge.Time(stamp), "table"
			all = append(all, m)
			box.Action(&c, a[:])
			sys.Step(1, s[:], a[:], none, s[:])
			x.Read(s[:])
			stamp += int64(box.Dt * 1e9)
		}
		stamp += 1e9
	}
	return all
}

// Bag writes ticks on topics to a bag.
func Bag(t testing.TB, all []*msgs.PushStep, topics ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "pushes")
	w, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	name := new(msgs.PushStep).TypeName()
	known, _ := msgs.Lookup(name)
	for _, topic := range topics {
		if err := w.AddTopic(bag.Topic{Name: topic, Type: name, Definition: known.Definition()}); err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			at := bridge.Nanoseconds(m.Header.Stamp)
			data, err := cdr.Marshal(m)
			if err == nil {
				err = w.Write(&bag.Message{Topic: topic, Type: name, LogTime: at, PublishTime: at, Data: data})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}
