package link

import (
	"math"
	"strings"
	"testing"
	"time"

	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/bridge/betaflight/sitl/sitltest"
	"vnd/pkg/core/quad"
)

// overrides has MSP override the four sticks of an operator, by a switch on the second auxiliary channel.
func overrides() []betaflight.Setting {
	return []betaflight.Setting{{Name: "msp_override_channels_mask", Value: "15"},
		{Name: "aux 1", Value: "50 1 1700 2100 0 0"}}
}

// near reports whether the motors give a throttle, on average.
func near(throttle float64) func([4]float64) bool {
	return func(m [4]float64) bool {
		want := sitltest.Idle + (1-sitltest.Idle)*throttle
		return math.Abs((m[0]+m[1]+m[2]+m[3])/4-want) < 0.01
	}
}

// TestOperatorWins: an operator arms and flies at a throttle of .5, gives over by a switch, and takes back.
func TestOperatorWins(t *testing.T) {
	f := sitltest.New(t, 10, overrides()...)
	p, ctx, _ := companion(t, f, 0.5)
	stop := command(p, quad.Command{Thrust: quad.Gravity})
	defer stop()
	const off, on, half = 1000, 2000, 1050 + 475
	state := func(want State) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			r, err := p.Report(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if r.State == want {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s, want %s; %v", r.State, want, r.Status.Disabled.Words())
			}
		}
	}
	f.Transmit(1500, 1500, 1000, 1500, off, off)
	state(ByHand)
	if err := p.SetArmed(ctx, true); err == nil || !strings.Contains(err.Error(), "the pilot arms") {
		t.Error(err)
	}
	ready := func() bool {
		r, err := p.Report(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return r.Status.Disabled == 0 && !r.StatusAt.IsZero()
	}
	f.Wait(t, "that nothing keeps it from arming", func([4]float64) bool { return ready() })
	f.Transmit(1500, 1500, 1000, 1500, on, off)
	f.Wait(t, "armed by the pilot", sitltest.Turning)
	f.Transmit(1500, 1500, half, 1500, on, off)
	f.Wait(t, "the pilot's throttle", near(0.5))
	state(ByHand)
	f.Transmit(1500, 1500, half, 1500, on, on)
	f.Wait(t, "the command's throttle", near(sitltest.Hover))
	state(Flying)
	f.Transmit(1500, 1500, half, 1500, on, off)
	t.Logf("the pilot's sticks count after %.3f s", f.Wait(t, "the pilot's throttle again", near(0.5)))
	state(ByHand)
	f.Transmit(1500, 1500, half, 1500, on, on)
	f.Wait(t, "the command's throttle again", near(sitltest.Hover))
	stop()
	t.Logf("the throttle is low %.3f s after the last command", f.Wait(t, "a low throttle", near(0)))
	state(Resting)
	f.Transmit(1500, 1500, half, 1500, off, off)
	f.Wait(t, "disarmed by the pilot", sitltest.Still)
}
