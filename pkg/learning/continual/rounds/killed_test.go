package rounds

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/vnd/bundle"
)

// child starts this test in a process of its own, and kills it as soon as it has said a line that begins with until. It
// returns the last bundle that the process had said to fly.
func child(t *testing.T, name, until string, env ...string) (flies string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^"+name+"$", "-test.v")
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, found := bufio.NewScanner(out), false
	for !found && lines.Scan() {
		found = strings.HasPrefix(lines.Text(), until)
		if id, ok := strings.CutPrefix(lines.Text(), "flies "); ok {
			flies = id
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // says that it was killed
	if !found {
		t.Fatalf("the process never said %q", until)
	}
	return flies
}

// TestKilled kills a process in every phase: the next one comes up with the bundle that flew last, and goes on.
func TestKilled(t *testing.T) {
	long(t)
	dir := os.Getenv("VND_TEST_BACKGROUND")
	if dir != "" {
		learnForever(t, dir)
		return
	}
	dir = t.TempDir()
	announced := []dataset.SegmentFile{segment(t, filepath.Join(dir, "buffer"), flown(0, 0, 10, 1)),
		segment(t, filepath.Join(dir, "buffer"), flown(1, 100, 10, 2))}
	data, err := json.Marshal(announced)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "announced.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	first := ""
	for _, phase := range []string{"phase base_policy", "phase gate", "flies", "phase fit", "phase encode",
		"phase improve", "late gate"} {
		flies := child(t, "TestKilled", phase, "VND_TEST_BACKGROUND="+dir)
		if first == "" {
			first = flies
		}
		if flies != first {
			t.Errorf("killed in %q: %q flew, expected %q", phase, flies, first)
		}
		whole(t, dir)
	}
	second := child(t, "TestKilled", "second", "VND_TEST_BACKGROUND="+dir)
	whole(t, dir)
	if first == "" || second == first {
		t.Errorf("the first bundle was %q, the second %q", first, second)
	}
	opt := options(t, dir)
	opt.BasePolicy = nil
	b := start(t, tiny(), opt)
	b.bundles(1)
	if b.sent[0] != second {
		t.Errorf("%s flies, expected %s", b.sent[0], second)
	}
}

// whole looks at every bundle of a store.
func whole(t *testing.T, dir string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	for _, f := range files {
		if _, err := bundle.Read(f); err != nil {
			t.Error(err)
		}
	}
}

// learnForever says what it does.
func learnForever(t *testing.T, dir string) {
	opt := options(t, dir)
	sent := 0
	had := ""
	opt.Publish = func(b *bundle.Bundle, _ []byte) {
		if b.Parent != "" && sent > 0 {
			fmt.Println("flies", b.ID)
			fmt.Println("second")
			select {}
		}
		sent++
		fmt.Println("flies", b.ID)
	}
	opt.Report = func(s continual.Status) {
		if s.Phase == continual.Gating && s.BundleID != "" {
			fmt.Println("late gate")
		}
		if string(s.Phase) != had {
			had = string(s.Phase)
			fmt.Println("phase", had)
		}
	}
	cfg := tiny()
	l, err := Open(func() *Config { return cfg }, opt)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "announced.json"))
	if err != nil {
		t.Fatal(err)
	}
	var announced []dataset.SegmentFile
	if err := json.Unmarshal(data, &announced); err != nil {
		t.Fatal(err)
	}
	go func() {
		for _, a := range announced {
			if err := l.Segment(context.Background(), a); err != nil {
				t.Error(err)
			}
		}
	}()
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestResourceLimits: every thread of a process has the priority asked for, those made before and after.
func TestResourceLimits(t *testing.T) {
	if os.Getenv("VND_TEST_MODEST") == "" {
		child(t, "TestResourceLimits", "modest", "VND_TEST_MODEST=1")
		return
	}
	hold, ready := make(chan bool), make(chan bool)
	thread := func() {
		runtime.LockOSThread()
		ready <- true
		<-hold
	}
	for range 5 {
		go thread()
		<-ready
	}
	m := ResourceLimits{Nice: 7, Threads: 1, Memory: 100}
	if err := m.Apply(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		go thread()
		<-ready
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		id, _ := strconv.Atoi(task.Name())
		if now, err := syscall.Getpriority(syscall.PRIO_PROCESS, id); err != nil || 20-now < 7 {
			t.Fatalf("thread %d has priority %d, %v", id, 20-now, err)
		}
	}
	if len(tasks) < 11 || kernel.Workers() != 1 {
		t.Fatalf("%d threads on %d processors", len(tasks), kernel.Workers())
	}
	m.Nice = least
	if err := m.Apply(); err != nil {
		t.Fatal(err)
	}
	go thread()
	<-ready
	tasks, _ = os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		id, _ := strconv.Atoi(task.Name())
		if attr, err := unix.SchedGetAttr(id, 0); err != nil || attr.Policy != unix.SCHED_IDLE {
			t.Fatalf("thread %d: %+v, %v", id, attr, err)
		}
	}
	fmt.Println("modest")
	close(hold)
}
