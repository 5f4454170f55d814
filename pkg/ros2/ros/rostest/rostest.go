// Package rostest runs nodes beside a test.
package rostest

import (
	"context"
	"testing"

	"vnd/pkg/ros2/ros"
)

// Spin runs the callbacks of c on a number of threads until the test ends, then closes c. It
// does so before earlier cleanups of the test. An error fails the test.
func Spin(t testing.TB, c *ros.Context, threads int) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	SpinWith(ctx, stop, t, c, threads)
}

// SpinWith is Spin with a context that others use too; stop cancels it.
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
