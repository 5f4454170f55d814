package cli

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	example "vnd/msgs/example_interfaces"
	"vnd/pkg/ros2/ros/action"
	"vnd/pkg/ros2/ros/rostest"
)

type fibonacci = action.Goal[example.FibonacciGoal, example.FibonacciResult, example.FibonacciFeedback]

// Ctrl-C cancels a goal, also where it comes twice and ends whoever reads the output: else a robot flies on.
func TestInterruptCancelsGoal(t *testing.T) {
	c := rostest.Wire(t, nil)
	n, err := c.NewNode("counter")
	if err != nil {
		t.Fatal(err)
	}
	canceled := make(chan struct{})
	if _, err := action.NewServer(n, "fibonacci", action.Callbacks[example.FibonacciGoal, example.FibonacciResult,
		example.FibonacciFeedback]{Start: func(g *fibonacci) {
		go func() {
			for {
				select {
				case <-g.Canceling():
					g.Cancel(&example.FibonacciResult{})
					close(canceled)
					return
				case <-time.After(10 * time.Millisecond):
					g.Feedback(&example.FibonacciFeedback{})
				}
			}
		}()
	}}, action.Options{}); err != nil {
		t.Fatal(err)
	}
	rostest.Spin(t, c, 2)
	send := exec.Command("vnd", "action", "send", "-f", "/fibonacci", "{order: 5}", "--timeout", "30s")
	send.Env = append(slices.Clone(os.Environ()), rostest.Environ()...)
	out, err := send.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := send.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.HasPrefix(lines.Text(), "Feedback:"); {
	}
	out.Close()
	for range 2 {
		if err := send.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	select {
	case <-canceled:
	case <-time.After(time.Minute):
		t.Error("the goal goes on")
	}
	if err := send.Wait(); err == nil || send.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("vnd action send ended with %v, expected a failure in words", err)
	}
}
