package ros

// SpinOnce returns a function that runs one iteration of Spin's loop.
func SpinOnce(c *Context) func() {
	x := c.executor
	onReady, run := x.keepReady, x.runReady
	return func() { _ = x.once(onReady, run) }
}

// Timers is the number of timers that the executor keeps.
func Timers(c *Context) int {
	c.executor.timersMu.Lock()
	defer c.executor.timersMu.Unlock()
	return len(c.executor.timers)
}
