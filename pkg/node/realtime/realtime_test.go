package realtime

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// taken has this process be the child that takes its priority: a test is not to run at one.
const taken = "VND_REALTIME"

func TestMain(m *testing.M) {
	if os.Getenv(taken) == "" {
		os.Exit(m.Run())
	}
	if denied := Take(3); len(denied) > 0 {
		fmt.Println(strings.Join(denied, "\n"))
		os.Exit(3)
	}
	stop := make(chan bool)
	for range 8 { // threads that are started afterwards
		go func() { time.Sleep(10 * time.Millisecond); <-stop }()
	}
	time.Sleep(50 * time.Millisecond)
	close(stop)
	status, _ := os.ReadFile("/proc/self/status")
	_, locked, _ := strings.Cut(string(status), "VmLck:")
	fmt.Println("locked", strings.Fields(locked)[0])
	threads, _ := filepath.Glob("/proc/self/task/*")
	for _, path := range threads {
		var tid int
		_, _ = fmt.Sscan(filepath.Base(path), &tid)
		if a, err := unix.SchedGetAttr(tid, 0); err == nil {
			fmt.Println("policy", a.Policy, "priority", a.Priority)
		}
	}
}

// All threads of the process run first in, first out, and its memory is locked.
func TestTakesPriorityAndMemory(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), taken+"=1")
	out, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() == 3 {
		t.Skipf("this machine does not allow it: %s", out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if strings.HasPrefix(lines[0], "locked 0") || len(lines) < 3 {
		t.Errorf("%q", lines)
	}
	for _, line := range lines[1:] {
		if want := fmt.Sprintf("policy %d priority 3", unix.SCHED_FIFO); line != want {
			t.Errorf("a thread has %s, expected %s", line, want)
		}
	}
}
