package ros

import (
	"math"
	"time"

	builtininterfaces "vnd/msgs/builtin_interfaces"
)

// Time is a time in ns: since 1970 on ROS and system clocks, since an arbitrary start on a
// steady one.
type Time int64

// TimeOf reads a message's stamp.
func TimeOf(m builtininterfaces.Time) Time {
	return Time(int64(m.Sec)*int64(time.Second) + int64(m.Nanosec))
}

// Msg is the stamp of a message. Times beyond its 32 bits of seconds become the nearest
// that these can hold.
func (t Time) Msg() builtininterfaces.Time {
	sec, nano := int64(t)/int64(time.Second), int64(t)%int64(time.Second)
	if nano < 0 {
		sec, nano = sec-1, nano+int64(time.Second)
	}
	switch {
	case sec > math.MaxInt32:
		return builtininterfaces.Time{Sec: math.MaxInt32, Nanosec: uint32(time.Second - 1)}
	case sec < math.MinInt32:
		return builtininterfaces.Time{Sec: math.MinInt32}
	}
	return builtininterfaces.Time{Sec: int32(sec), Nanosec: uint32(nano)}
}

// Add returns t + d.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns t − u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Seconds since the clock's origin.
func (t Time) Seconds() float64 { return float64(t) / 1e9 }
