package ros

// Turner returns what makes one turn of Spin's loop per call.
func Turner(c *Context) func() {
	x := c.executor
	keep, turn := x.keep, x.turn
	return func() { _ = x.once(keep, turn) }
}

// Timers is how many timers the executor keeps.
func Timers(c *Context) int {
	c.executor.timersMu.Lock()
	defer c.executor.timersMu.Unlock()
	return len(c.executor.timers)
}
