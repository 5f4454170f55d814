// Package rostest has nodes run beside a test.
package rostest

import (
	"context"
	"testing"

	"vnd/pkg/ros2/ros"
)

// Spin runs the callbacks of c on so many threads until the test ends, then closes it. What was registered before to be
// cleaned up is
// still there meanwhile. An error of either fails the test.
func Spin(t testing.TB, c *ros.Context, threads int) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	SpinWith(ctx, stop, t, c, threads)
}

// SpinWith is Spin for what goes on with ctx, too, which stop ends.
func SpinWith(ctx context.Context, stop context.CancelFunc, t testing.TB, c *ros.Context, threads int) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		if threads == 1 {
			ended <- c.Spin(ctx)
			return
		}
		ended <- c.SpinThreads(ctx, threads)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
