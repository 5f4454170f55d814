package torture

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOneProcess: one process hosts controller and encoder, with recorder and learner as its children. A learner that
// is killed comes up again while the flight goes on, and none of them outlives the process.
func TestOneProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("four processes")
	}
	f := newField(t)
	parameters := []string{"use_sim_time:=true", "bundle_file:=" + bundleFile(t), "directory:=" + f.data,
		"autostart:=true", "bag.least_free:=0"}
	host := f.start("flight", append(parameters, modest...)...)
	f.start("quad_sim", "lockstep:=true", "lockstep_paced:=true", "lockstep_patience:=5.0")
	f.until("flight under the policy and its latents, with a learner", func() bool {
		return f.flies(0, 50) && f.steps[len(f.steps)-1].latent && f.bundles > 0
	})
	before := descendants(t, host.cmd.Process.Pid)
	if len(before) != 2 {
		t.Fatalf("children %v", before)
	}
	f.mu.Lock()
	steps, bundles := len(f.steps), f.bundles
	f.mu.Unlock()
	if err := syscall.Kill(before["background_learner"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.until("another learner", func() bool { return f.flies(steps, 50) && f.bundles > bundles })
	after := descendants(t, host.cmd.Process.Pid)
	if len(after) != 2 || after["background_learner"] == before["background_learner"] ||
		after["transition_recorder"] != before["transition_recorder"] {
		t.Errorf("children %v, before %v", after, before)
	}
	host.end()
	for name, pid := range after {
		for end := time.Now().Add(patience); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s outlives the process", name)
			}
		}
	}
	bags, _ := filepath.Glob(filepath.Join(f.data, "bags", "rosbag2_*", "metadata.yaml"))
	if len(bags) != 1 {
		t.Errorf("whole bags: %v", bags)
	}
}

// descendants are the children of a process, by name.
func descendants(t *testing.T, pid int) map[string]int {
	t.Helper()
	found := map[string]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent …, where a name is cut at 15 characters
		end := strings.LastIndexByte(string(data), ')')
		fields := strings.Fields(string(data)[end+1:])
		if len(fields) < 2 || fields[1] != strconv.Itoa(pid) || fields[0] == "Z" {
			continue
		}
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		if exe, err := os.Readlink(filepath.Join(filepath.Dir(path), "exe")); err == nil {
			found[filepath.Base(exe)] = child
		}
	}
	return found
}
