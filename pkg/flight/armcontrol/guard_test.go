package armcontrol

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/robot/arm"
)

// TestJointStatesThatLie: rates that are all 0, as of a driver that has none, angles that stay the same, and a single
// bad rate, amid a circle. Where angles come, the tool stays near; where none do, the joints end slow, as they do where
// joint states end.
func TestJointStatesThatLie(t *testing.T) {
	for _, x := range []struct {
		fault        string
		far, fastest float64 // of the tool from where it was to be, m; of a joint, rad/s
		spoil        func(tick int, s, before *arm.State)
	}{
		{"", 0.01, 1, func(tick int, s, _ *arm.State) {
			if tick == 0 {
				s.V[0] = 1.5
			}
		}},
		{"rad/s by its rate, with", 0.03, 2.5, func(_ int, s, _ *arm.State) { s.V = [arm.Joints]float64{} }},
		{"stay the same while", 1, 4, func(_ int, s, before *arm.State) { *s = *before }},
	} {
		b := newBench(t, 1)
		b.fly(2)
		if err := b.Follow(reference(t, "circle", 0.25), arm.Home); err != nil {
			t.Fatal(err)
		}
		b.fly(6)
		before := *b.state()
		far, fastest := 0., 0.
		for tick := range 100 {
			s := *b.state()
			x.spoil(tick, &s, &before)
			b.step(b.Tick(b.now, &s))
			far = max(far, b.tool(b.s[:arm.Joints]).Sub(b.to.Tool).Norm())
			for _, v := range b.s[arm.Joints:] {
				fastest = max(fastest, math.Abs(v))
			}
		}
		if far > x.far || fastest > x.fastest || (x.fault == "") != (b.Fault() == "") ||
			!strings.Contains(b.Fault(), x.fault) {
			t.Errorf("%q, expected %q: %g m, %g rad/s", b.Fault(), x.fault, far, fastest)
		}
	}
}

// tool is where it is at angles q.
func (b *bench) tool(q []float64) so3.Vec3 {
	p := b.chain.NewPose()
	b.chain.Place(q, &p)
	return p.Tool
}
