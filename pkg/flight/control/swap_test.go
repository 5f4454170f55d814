package control

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
)

// TestSwapTakesTheNewActuator: from the tick of a swap on, the lagged command is that of the new bundle's actuator,
// begun where the old one's had come to.
func TestSwapTakesTheNewActuator(t *testing.T) {
	c := defaults()
	first, second := loadedPolicy(t, "a.vnd", c.Rate), loadedPolicy(t, "b.vnd", c.Rate)
	first.actuator = quadrotor.Actuator{ThrustGain: 1, RateGain: 1, ThrustLag: 0.2, RateLag: 0.2}
	second.actuator = quadrotor.Actuator{ThrustGain: 0.8, RateGain: 1.2, ThrustLag: 0.02, RateLag: 0.05}
	l, want := newLoop(t, c), actuator{}
	want.hover()
	l.SetReference(taskReference(t, "hover"))
	tick := NewTickRecord()
	const row = 20_000_000 // ns
	for k := range 40 {
		if k == 0 || k == 20 {
			flown := first
			if k == 20 {
				flown = second
			}
			l.SetPolicy(flown)
			want.setModel(flown.actuator, flown.dt, 1/c.Rate)
		}
		m := Sample{Stamp: epoch + int64(k)*row,
			State: quad.State{P: so3.Vec3{X: 0.01 * float64(k), Z: 1}, Q: so3.Identity()}}
		l.AddSample(&m)
		if _, ok := l.Tick(m.Stamp); !ok {
			continue
		}
		l.FinishTick(&tick)
		if tick.Actuator != want.e {
			t.Fatalf("tick %d: the lagged command is %+v, want %+v", k, tick.Actuator, want.e)
		}
		want.step(tick.Sent)
	}
	if want.e == (quad.Command{Thrust: quad.Gravity}) {
		t.Error("nothing was commanded")
	}
}
