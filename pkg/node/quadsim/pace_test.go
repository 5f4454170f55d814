package quadsim

import (
	"strings"
	"testing"
	"time"

	"vnd/pkg/core/param"
	"vnd/pkg/core/so3"
	"vnd/pkg/node/pace"
	"vnd/pkg/sim/closedloop"
)

const ms = int64(time.Millisecond)

// Stamps of real time are never of the future, whatever holds the simulator up: steps that it catches up with have
// stamps of when they were due.
func TestStampsKeepToTheWallAfterAStop(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, stop := range []time.Duration{50, 150, 199, 201, 230, 249, 251, 2000} {
		stop *= time.Millisecond
		v, err := closedloop.NewVehicle("", 1, so3.Vec3{Z: 1}, closedloop.Autopilot{Timeout: 0.5, Descent: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		n := simulator{params: &Params{Speed: 1}, vehicle: v, epoch: start.UnixNano(),
			pace: pace.Pace{Step: 5 * time.Millisecond, Speed: 1, Next: start}}
		for k, now := 0, start; k < 200; k++ {
			if k == 100 {
				now = now.Add(stop)
			}
			for n.pace.Wait(now) <= 0 {
				n.keepTime(now)
				v.Advance(n.pace.Step.Seconds())
				n.pace.Advanced(now)
				if ahead := n.stamp(v.Time()) - now.UnixNano(); ahead > 6*ms {
					t.Fatalf("a stamp is %.1f ms in the future after a stop of %v", float64(ahead)/1e6, stop)
				}
			}
			now = now.Add(5 * time.Millisecond)
			if late := now.UnixNano() - n.stamp(v.Time()); late > 6*ms {
				t.Fatalf("stamps are %.1f ms late after a stop of %v", float64(late)/1e6, stop)
			}
		}
	}
}

func TestParams(t *testing.T) {
	var p Params
	if err := param.Check(&p); err != nil {
		t.Fatal(err)
	}
	param.Default(&p)
	if err := p.check(); err != nil || p.simulated() {
		t.Error(err)
	}
	for _, spoil := range []func(*Params){func(p *Params) { p.Start = nil },
		func(p *Params) { p.Interface = "px4" }} {
		q := p
		spoil(&q)
		if err := q.check(); err == nil {
			t.Errorf("%+v passes", q)
		}
	}
	p.World = "none.yaml"
	if _, err := p.load(); err == nil || !strings.HasPrefix(err.Error(), "parameter world: open none.yaml: ") {
		t.Errorf("no such world: %v", err)
	}
}
