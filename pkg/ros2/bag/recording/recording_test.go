package recording

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	"vnd/pkg/core/param"
	"vnd/pkg/ros2/bag"
)

func topic(name, durability string) bag.Topic {
	t, _ := msgs.Lookup("std_msgs/msg/String")
	return bag.Topic{Name: name, Type: t.Name, TypeHash: t.Hash, Definition: t.Definition(),
		QoS: []bag.QoS{{History: "keep_last", Depth: 1, Reliability: "reliable", Durability: durability}}}
}

const begin = int64(1_700_000_000_000_000_000)

func message(topic string, k int) *bag.Message {
	at := begin + int64(k)*20e6
	text := fmt.Sprintf("%07d", k) // eight bytes with its end
	return &bag.Message{Topic: topic, LogTime: at, PublishTime: at - 1000,
		Data: append([]byte{0, 1, 0, 0, 8, 0, 0, 0}, text+"\x00"...)}
}

func settings() (c Config) {
	param.Default(&c)
	return c
}

func plenty(string) (uint64, error) { return 1 << 40, nil }

func open(t *testing.T, dir string, free func(string) (uint64, error)) *Recording {
	t.Helper()
	r, err := Open(settings(), Options{Dir: dir, Free: free, Distro: "jazzy"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []bag.Topic{topic("/step", "volatile"), topic("/bundle", "transient_local")} {
		if err := r.AddTopic(x); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// read gives the texts of a bag in order, by topic.
func read(t *testing.T, dir string) map[string][]int {
	t.Helper()
	r, err := bag.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := map[string][]int{}
	for m, err := range r.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		k, err := strconv.Atoi(string(m.Data[8:15]))
		if err != nil {
			t.Fatal(err)
		}
		out[m.Topic] = append(out[m.Topic], k)
	}
	return out
}

func TestConfigAndFreeSpace(t *testing.T) {
	if err := param.Check(new(Config)); err != nil {
		t.Error(err)
	}
	if n, err := free(t.TempDir()); err != nil || n == 0 {
		t.Errorf("%d bytes free, %v", n, err)
	}
	if _, err := free("/no/such/folder"); err == nil {
		t.Error("space in a missing folder")
	}
}

// Every bag is complete, has schemas and QoS, and begins with the newest transient local message.
func TestBagAfterBagIsComplete(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, plenty)
	r.Write(message("/bundle", 1)) // before any bag
	r.Write(message("/bundle", 2))
	r.Write(message("/step", 3))
	var bags []string
	for range 2 {
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		if err := r.Start(); err != nil {
			t.Errorf("started twice: %v", err)
		}
		bags = append(bags, r.Status().Bag)
		for k := 10; k < 20; k++ {
			r.Write(message("/step", k))
		}
		r.Write(message("/other", 1))
		if err := r.Watch(); err != nil {
			t.Error(err)
		}
		if err := errors.Join(r.Stop(), r.Stop()); err != nil {
			t.Error(err)
		}
	}
	for _, b := range bags {
		got := read(t, b)
		if len(got["/step"]) != 10 || len(got["/bundle"]) != 1 || got["/bundle"][0] != 2 {
			t.Errorf("%s holds %v", b, got)
		}
		info, err := bag.Info(b)
		if err != nil || info.Lost.Any() || info.Distro != "jazzy" || len(info.Topics) != 2 ||
			info.Topics[0].Definition == "" ||
			info.Topics[1].QoS[0].Durability != "transient_local" {
			t.Errorf("%+v, %v", info, err)
		}
	}
	if s := r.Status(); s.Bags != 2 || s.Written != 22 || s.Dropped["/other"] != 2 || s.Reason != "stopped" ||
		s.Bag != "" {
		t.Errorf("%+v", s)
	}
	if err := r.AddTopic(bag.Topic{Name: "/step", Type: "std_msgs/msg/Int8"}); err == nil {
		t.Error("a topic has two types")
	}
	if _, err := Open(settings(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "holds it") {
		t.Errorf("a second recording: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Too little space ends the bag, which is complete, and no other begins.
func TestSpace(t *testing.T) {
	left := uint64(1 << 40)
	r := open(t, t.TempDir(), func(string) (uint64, error) { return left, nil })
	defer r.Close()
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	first := r.Status().Bag
	r.Write(message("/step", 1))
	left = 100 << 20
	if err := r.Watch(); err == nil || !strings.Contains(err.Error(),
		"100 MiB are free on the disk, parameter least_free asks for 2048") {
		t.Errorf("no space: %v", err)
	}
	if got := read(t, first); len(got["/step"]) != 1 {
		t.Errorf("%v", got)
	}
	if err := r.Start(); err == nil || r.Status().Bag != "" || !strings.Contains(r.Status().Reason, "least_free") {
		t.Errorf("a bag begins without space: %v, %+v", err, r.Status())
	}
	if err := r.Watch(); err != nil {
		t.Errorf("said twice: %v", err)
	}
	r.SetLeastFree(50)
	if err := r.Start(); err != nil {
		t.Errorf("with less asked for: %v", err)
	}
}

// A folder that is removed gives an error of one line.
func TestStartFailsInARemovedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bags")
	r := open(t, dir, free)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err == nil || !strings.Contains(err.Error(), dir) || r.Status().Bag != "" {
		t.Errorf("%v, %+v", err, r.Status())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A killed recording is recovered at the next start, with all messages that were on the disk, also after a recovery
// that
// was killed.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("VND_TEST_RECORDING"); dir != "" {
		recordForever(dir)
		return
	}
	dir := t.TempDir()
	onDisk := killRecording(t, dir)
	killed := killRecovery(t, dir)
	var lines []string
	report := func(line string) { lines = append(lines, line) }

	r := open(t, dir, func(string) (uint64, error) { return 1, nil })
	r.Recover(context.Background(), report)
	if len(lines) != 1 || !strings.Contains(lines[0], "stays as it is") {
		t.Errorf("without space: %q", lines)
	}
	r.Close()

	r, lines = open(t, dir, plenty), nil
	if err := r.Start(); err != nil { // beside the recovery
		t.Fatal(err)
	}
	r.Recover(context.Background(), report)
	if len(lines) != 1 || !strings.Contains(lines[0], "is recovered") {
		t.Errorf("%q", lines)
	}
	info, err := bag.Info(killed)
	if err != nil || info.Lost.Any() || info.Live || len(info.Warnings) > 0 {
		t.Errorf("%+v, %v", info, err)
	}
	got := read(t, killed)["/step"]
	if onDisk < 200 || len(got) < onDisk {
		t.Errorf("%d messages were on disk, %d are there", onDisk, len(got))
	}
	for i, k := range got {
		if i != k {
			t.Fatalf("message %d is %d", i, k)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// killRecording kills a process that records, and returns how many messages were on the disk.
func killRecording(t *testing.T, dir string) (onDisk int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
	cmd.Env = append(os.Environ(), "VND_TEST_RECORDING="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); onDisk < 200 && lines.Scan(); {
		if onDisk, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatalf("%q", lines.Text())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // an error: it was killed
	return onDisk
}

// killRecovery leaves the folder as a recovery that was killed between its two renames, and returns the bag's path.
func killRecovery(t *testing.T, dir string) string {
	t.Helper()
	bags, _ := filepath.Glob(filepath.Join(dir, "rosbag2_*"))
	if len(bags) != 1 {
		t.Fatalf("bags %v", bags)
	}
	name := filepath.Base(bags[0])
	for _, d := range []string{filepath.Join(copies, name), originals} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(bags[0], filepath.Join(dir, originals, name)); err != nil {
		t.Fatal(err)
	}
	return bags[0]
}

// recordForever prints how many messages are on the disk.
func recordForever(dir string) {
	r, err := Open(settings(), Options{Dir: dir, Free: plenty})
	if err != nil {
		panic(err)
	}
	if err := errors.Join(r.AddTopic(topic("/step", "volatile")), r.Start()); err != nil {
		panic(err)
	}
	for k := 0; ; k++ {
		r.Write(message("/step", k))
		if k%50 == 49 {
			for seen, err := bag.Info(r.Status().Bag); err != nil ||
				seen.Messages < uint64(k+1); seen, err = bag.Info(r.Status().Bag) {
				time.Sleep(5 * time.Millisecond)
			}
			fmt.Println(k + 1)
		}
	}
}
