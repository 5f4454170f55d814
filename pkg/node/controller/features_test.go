package controller

import (
	"strings"
	"testing"
	"time"
)

// TestStampsOfFrames rise, and are not of the future; those of a clock that was set back begin anew.
func TestStampsOfFrames(t *testing.T) {
	h := newHarness(t)
	r := &featuresReceiver{Controller: h.c, topic: "/features"}
	const hour = int64(time.Hour)
	now := int64(h.c.Now())
	for _, c := range []struct {
		name  string
		stamp int64
		want  string // in the error; "" without
	}{
		{"the first", now - 5e6, ""},
		{"the next", now - 1e6, ""},
		{"the same again", now - 1e6, "is not later than that of the frame before"},
		{"one of before", now - 4e6, "is not later than that of the frame before"},
		{"one of another clock", now + hour, "is in the future"},
		{"the next again", now, ""},
	} {
		err := r.checkStamp(c.stamp)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "topic /features: ")) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	r.last = now + hour
	if err := r.checkStamp(now); err != nil {
		t.Errorf("after the clock was set back: %v", err)
	}
}
