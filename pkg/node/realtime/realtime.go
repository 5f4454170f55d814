// Package realtime keeps a process from waiting for others of its machine: for memory that was swapped out, or for
// programs of less importance.
package realtime

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Take locks the memory of the process, and has all its threads, and those that they start, run first in, first out at
// a priority (1 … 99). What the machine does not allow is one line each.
func Take(priority int) (denied []string) {
	// As pages are touched: Go reserves much more than it uses.
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
		denied = append(denied, fmt.Sprintf("memory is not locked (%v): allow it by ulimit -l unlimited, or "+
			"CAP_IPC_LOCK", err))
	}
	if err := prioritise(priority); err != nil {
		denied = append(denied, fmt.Sprintf("no real-time priority (%v): allow it by ulimit -r %d, or CAP_SYS_NICE",
			err, priority))
	}
	return denied
}

// prioritise sets all threads, until no new one has come meanwhile: those inherit what their parents have.
func prioritise(priority int) error {
	done := map[int]bool{}
	for more := true; more; {
		more = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, e := range threads {
			tid, err := strconv.Atoi(e.Name())
			if err != nil || done[tid] {
				continue
			}
			if err := fifo(tid, priority); err != nil && err != unix.ESRCH { // it has ended
				return err
			}
			done[tid], more = true, true
		}
	}
	return nil
}

// fifo has a thread run until it waits: no other one of a lesser priority takes its processor.
func fifo(tid, priority int) error {
	return unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO,
		Priority: uint32(priority)}, 0)
}

// Pin keeps the calling thread on one processor; −1: on any.
func Pin(cpu int) error {
	if cpu < 0 {
		return nil
	}
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(0, &set)
}
