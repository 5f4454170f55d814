package control

import (
	"testing"

	"vnd/pkg/core/param"
)

// A reference that comes back amid the blend away from it leads over from what was flown, not from itself.
func TestReferenceComesBackAmidABlend(t *testing.T) {
	var c Config
	param.Default(&c)
	l := newClosed(t, c, "a.vnd").loop
	b, err := NewTaskReference("track", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := l.task
	l.continuity(0)
	for i := range 6 {
		now := 1 + 0.1*float64(i)
		l.SetReference(b)
		l.continuity(now)
		before := l.task.at(now + 0.05)
		l.SetReference(a)
		l.continuity(now + 0.05)
		if after := l.task.at(now + 0.05); after.P.Sub(before.P).Norm() > 0.01 {
			t.Fatalf("switch %d: from %v to %v", i, before.P, after.P)
		}
	}
}
