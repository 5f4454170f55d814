package ros_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	builtininterfaces "vnd/msgs/builtin_interfaces"
	"vnd/pkg/ros2/ros"
)

func TestTimeMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := ros.Time(rapid.Int64Range(math.MinInt32*1e9, math.MaxInt32*1e9).Draw(t, "time"))
		m := at.Msg()
		if m.Nanosec >= 1e9 || ros.TimeOf(m) != at {
			t.Fatalf("%d became %+v", at, m)
		}
	})
	for at, want := range map[ros.Time]builtininterfaces.Time{
		-1:            {Sec: -1, Nanosec: 999_999_999},
		math.MaxInt64: {Sec: math.MaxInt32, Nanosec: 999_999_999},
		math.MinInt64: {Sec: math.MinInt32},
	} {
		if m := at.Msg(); m != want {
			t.Errorf("%d became %+v, want %+v", at, m, want)
		}
	}
}

func TestClocks(t *testing.T) {
	for _, kind := range []ros.ClockKind{ros.ROSTime, ros.SystemTime, ros.SteadyTime} {
		c := ros.NewClock(kind)
		before := c.Now()
		if err := c.SleepUntil(context.Background(), before.Add(time.Millisecond)); err != nil {
			t.Error(err)
		}
		if passed := c.Now().Sub(before); passed < time.Millisecond {
			t.Errorf("kind %d: slept for %v", kind, passed)
		}
		if _, ok := c.SinceUpdate(); ok || c.Kind() != kind {
			t.Error("a clock that nobody sets is silent")
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("enough"))
		if err := c.SleepUntil(ctx, c.Now().Add(time.Hour)); err == nil || err.Error() != "enough" {
			t.Error(err)
		}
	}
}
