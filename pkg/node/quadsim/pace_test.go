package quadsim

import (
	"testing"
	"time"

	"vnd/pkg/core/param"
	"vnd/pkg/core/so3"
	"vnd/pkg/sim/closedloop"
)

const ms = int64(time.Millisecond)

// On the wall, advances keep to the grid: what comes late is caught up with, and after a long stop it goes on from
// there.
func TestPaceCatchesUpAfterAStop(t *testing.T) {
	start := time.Unix(1000, 0)
	p := pace{step: 2 * time.Millisecond, speed: 2, next: start}
	advances := 0
	for now := start; now.Before(start.Add(time.Second)); now = now.Add(7 * time.Millisecond) {
		for p.wait(now) <= 0 {
			p.advanced(now)
			advances++
		}
	}
	if advances < 990 || advances > 1001 || p.skipped != 0 {
		t.Errorf("%d advances of 2 ms in a second at twice its speed, %d skipped", advances, p.skipped)
	}
	late := start.Add(10 * time.Second)
	for p.wait(late) <= 0 {
		p.advanced(late)
		advances++
	}
	if advances > 1003 || p.skipped < 8900 {
		t.Errorf("%d advances, %d skipped after a stop", advances, p.skipped)
	}
}

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
			pace: pace{step: 5 * time.Millisecond, speed: 1, next: start}}
		for k, now := 0, start; k < 200; k++ {
			if k == 100 {
				now = now.Add(stop)
			}
			for n.pace.wait(now) <= 0 {
				n.keepTime(now)
				v.Advance(n.pace.step.Seconds())
				n.pace.advanced(now)
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

// In lockstep time waits for the command of the sample a period after that of the last one, but not for ever.
func TestLockstepWaitsForTheCommand(t *testing.T) {
	now := time.Unix(1000, 0)
	p := pace{step: 5 * time.Millisecond, speed: 1, lockstep: true, period: 20 * ms, patience: time.Second, next: now}
	p.sampled(5 * ms)
	p.advanced(now)
	if p.wait(now) != 5*time.Millisecond {
		t.Error("before the first command time passes on the wall")
	}
	p.came(5 * ms)
	for _, c := range []struct {
		sample, command int64 // ms
		waits           bool
	}{
		{10, 0, false}, {15, 0, false}, {20, 0, false}, {25, 0, true}, {0, 25, false}, // each fourth sample
		{30, 30, false}, {45, 0, false}, {50, 0, true}, {55, 0, true}, {0, 20, true}, {0, 45, false},
		// the sample beside it
		{205, 0, true}, {0, 195, false}, {210, 0, false}, {215, 0, true}, {0, 215, false},
		// a controller that was late has another grid
	} {
		if c.sample > 0 {
			p.sampled(c.sample * ms)
		}
		if c.command > 0 {
			p.came(c.command * ms)
		}
		want := time.Duration(0)
		if c.waits {
			want = time.Second
		}
		if got := p.wait(now); got != want {
			t.Errorf("%+v: waits %v", c, got)
		}
	}
	p.sampled(90 * ms)
	p.gaveUp(now)
	p.advanced(now)
	p.sampled(500 * ms)
	if p.wait(now) != 5*time.Millisecond {
		t.Errorf("without commands it waits %v", p.wait(now))
	}
}

// Paced lockstep waits for commands and for the wall, and catches up after a late command.
func TestPacedLockstep(t *testing.T) {
	now := time.Unix(1000, 0)
	p := pace{step: 5 * time.Millisecond, speed: 1, lockstep: true, paced: true, period: 20 * ms, patience: time.Second,
		next: now}
	p.sampled(5 * ms)
	p.advanced(now)
	p.came(5 * ms)
	if got := p.wait(now); got != 5*time.Millisecond {
		t.Errorf("with its command there it waits %v for the wall", got)
	}
	p.sampled(25 * ms)
	if got := p.wait(now.Add(5 * time.Millisecond)); got != time.Second {
		t.Errorf("without its command it waits %v", got)
	}
	now = now.Add(100 * time.Millisecond)
	p.came(25 * ms)
	advances := 0
	for ; p.wait(now) <= 0; advances++ {
		p.advanced(now)
	}
	if advances != 20 || p.skipped != 0 {
		t.Errorf("%d advances of 5 ms after 100 ms without a command, %d skipped", advances, p.skipped)
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
}

func TestWaitForACommandEndsWhateverElseHappens(t *testing.T) {
	start := time.Unix(1000, 0)
	p := pace{speed: 1, lockstep: true, period: 20 * ms, patience: time.Second, commanded: 1}
	p.sampled(1 + 20*ms)
	now := start
	for ; p.wait(now) > 1; now = now.Add(10 * time.Millisecond) { // orders come all the time
		if now.Sub(start) > 2*p.patience {
			t.Fatalf("waits for %v, expected %v", now.Sub(start), p.patience)
		}
	}
	p.gaveUp(now)
	if w := p.wait(now); w > 0 {
		t.Errorf("waits %v after it gave up", w)
	}
}
