// Package attached starts programs that do not outlive this one, however it ends.
package attached

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// starts takes what is to run on one thread, which lives as long as this process: the kernel sends a signal of death
// when the thread that started the program ends.
var starts = sync.OnceValue(func() chan<- func() {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for call := range calls {
			call()
		}
	}()
	return calls
})

// Start starts a program, which gets a signal where this process dies first.
func Start(c *exec.Cmd, death syscall.Signal) error {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Pdeathsig = death
	started := make(chan error)
	starts() <- func() { started <- c.Start() }
	return <-started
}
