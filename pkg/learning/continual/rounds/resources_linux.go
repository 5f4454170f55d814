package rounds

import "golang.org/x/sys/unix"

// giveWay has a thread give up its processor at once to whatever wakes. A priority alone does not: since Linux 6.6
// who wakes waits for what is left of a slice, 3 ms, and so did every hundredth command in flight.
func giveWay(id int) error {
	return unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
}

// givesWay reports whether a thread does so, or has ended.
func givesWay(id int) bool {
	attr, err := unix.SchedGetAttr(id, 0)
	return err != nil || attr.Policy == unix.SCHED_IDLE
}
