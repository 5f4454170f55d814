package rounds

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"

	"vnd/pkg/nn/kernel"
)

// ResourceLimits bound how much of the machine a learning process takes, so that flight does not feel it.
type ResourceLimits struct {
	Nice    int `param:"nice" default:"19" min:"0" max:"19" read_only:"true" doc:"priority of the process' threads: 19 is the least, and gives way at once to all that is not as low (Linux: SCHED_IDLE)"`
	Threads int `param:"threads" default:"0" min:"0" max:"1024" read_only:"true" doc:"processors that learning may take; 0 takes all"`
	Memory  int `param:"memory" default:"2048" min:"0" max:"1048576" unit:"MiB" read_only:"true" doc:"heap that the collector keeps to, as long as it can; 0 has no bound"`
}

// Apply puts the limits into force for this process.
func (m *ResourceLimits) Apply() error {
	if m.Threads > 0 {
		kernel.SetWorkers(m.Threads)
	}
	if m.Memory > 0 {
		debug.SetMemoryLimit(int64(m.Memory) << 20)
	}
	if m.Nice == least {
		kernel.GiveWay()
	}
	return renice(m.Nice)
}

// least is the priority of what runs where nothing else wants to.
const least = 19

// renice sets the priority of every thread: on Linux each has its own, and new ones take that of the thread that makes
// them. Threads may be made meanwhile, so it looks again until there are none of another priority.
func renice(nice int) error {
	const rounds = 100
	for range rounds {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil { // not Linux: the process as a whole
			return syscall.Setpriority(syscall.PRIO_PROCESS, 0, nice)
		}
		changed := false
		for _, t := range tasks {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				continue
			}
			now, err := syscall.Getpriority(syscall.PRIO_PROCESS, id)
			low := err == nil && 20-now >= nice // the system call gives 20 − nice
			if errors.Is(err, syscall.ESRCH) || low && (nice < least || givesWay(id)) {
				continue
			}
			if err == nil && nice == least {
				err = giveWay(id)
			}
			if err == nil {
				err = syscall.Setpriority(syscall.PRIO_PROCESS, id, nice)
			}
			if errors.Is(err, syscall.ESRCH) {
				continue
			}
			if err != nil {
				return fmt.Errorf("priority %d: %w", nice, err)
			}
			changed = true
		}
		if !changed {
			return nil
		}
	}
	return fmt.Errorf("priority %d: threads are made faster than they can be slowed", nice)
}
