package pace

import (
	"testing"
	"time"
)

const (
	ms       = int64(time.Millisecond)
	patience = 200 * time.Millisecond
)

// On the wall, advances keep to the grid: what comes late is caught up with, and after a long stop it goes on from
// there.
func TestPaceCatchesUpAfterAStop(t *testing.T) {
	start := time.Unix(1000, 0)
	p := Pace{Step: 2 * time.Millisecond, Speed: 2, Next: start}
	advances := 0
	for now := start; now.Before(start.Add(time.Second)); now = now.Add(7 * time.Millisecond) {
		for p.Wait(now) <= 0 {
			p.Advanced(now)
			advances++
		}
	}
	if advances < 990 || advances > 1001 || p.skipped != 0 {
		t.Errorf("%d advances of 2 ms in a second at twice its speed, %d skipped", advances, p.skipped)
	}
	late := start.Add(10 * time.Second)
	for p.Wait(late) <= 0 {
		p.Advanced(late)
		advances++
	}
	if advances > 1003 || p.skipped < 8900 {
		t.Errorf("%d advances, %d skipped after a stop", advances, p.skipped)
	}
}

// In lockstep time waits for the command of the sample a period after that of the last one, but not for ever.
func TestLockstepWaitsForTheCommand(t *testing.T) {
	now := time.Unix(1000, 0)
	p := Pace{Step: 5 * time.Millisecond, Speed: 1, Lockstep: true, Period: 20 * ms, Patience: patience, Next: now}
	p.Sampled(5 * ms)
	p.Advanced(now)
	if p.Wait(now) != 5*time.Millisecond {
		t.Error("before the first command time passes on the wall")
	}
	p.Came(5 * ms)
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
			p.Sampled(c.sample * ms)
		}
		if c.command > 0 {
			p.Came(c.command * ms)
		}
		want := time.Duration(0)
		if c.waits {
			want = patience
		}
		if got := p.Wait(now); got != want {
			t.Errorf("%+v: waits %v", c, got)
		}
	}
	p.Sampled(90 * ms)
	p.GaveUp(now)
	p.Advanced(now)
	p.Sampled(500 * ms)
	if p.Wait(now) != 5*time.Millisecond {
		t.Errorf("without commands it waits %v", p.Wait(now))
	}
}

// Paced lockstep waits for commands and for the wall, and catches up after a late command.
func TestPacedLockstep(t *testing.T) {
	now := time.Unix(1000, 0)
	p := Pace{Step: 5 * time.Millisecond, Speed: 1, Lockstep: true, Paced: true, Period: 20 * ms, Patience: patience,
		Next: now}
	p.Sampled(5 * ms)
	p.Advanced(now)
	p.Came(5 * ms)
	if got := p.Wait(now); got != 5*time.Millisecond {
		t.Errorf("with its command there it waits %v for the wall", got)
	}
	p.Sampled(25 * ms)
	if got := p.Wait(now.Add(5 * time.Millisecond)); got != patience {
		t.Errorf("without its command it waits %v", got)
	}
	now = now.Add(100 * time.Millisecond)
	p.Came(25 * ms)
	advances := 0
	for ; p.Wait(now) <= 0; advances++ {
		p.Advanced(now)
	}
	if advances != 20 || p.skipped != 0 {
		t.Errorf("%d advances of 5 ms after 100 ms without a command, %d skipped", advances, p.skipped)
	}
}

func TestWaitForACommandEndsWhateverElseHappens(t *testing.T) {
	start := time.Unix(1000, 0)
	p := Pace{Speed: 1, Lockstep: true, Period: 20 * ms, Patience: patience, commanded: 1}
	p.Sampled(1 + 20*ms)
	now := start
	for ; p.Wait(now) > 1; now = now.Add(10 * time.Millisecond) { // orders come all the time
		if now.Sub(start) > 2*p.Patience {
			t.Fatalf("waits for %v, expected %v", now.Sub(start), p.Patience)
		}
	}
	p.GaveUp(now)
	if w := p.Wait(now); w > 0 {
		t.Errorf("waits %v after it gave up", w)
	}
}

// A step whose sample is waited for takes its time on the wall, too.
func TestASampleIsWaitedForFromItsOwnStepOn(t *testing.T) {
	now := time.Unix(1000, 0)
	p := Pace{Step: 5 * time.Millisecond, Speed: 1, Lockstep: true, Paced: true, Period: 20 * ms, Patience: patience,
		Next: now, commanded: 1}
	if w := p.Wait(now); w > 0 {
		t.Fatalf("it waits %v", w)
	}
	p.Sampled(1 + 20*ms)
	p.Advanced(now)
	p.Came(1 + 20*ms)
	if w := p.Wait(now); w != p.Step {
		t.Errorf("with its command there it waits %v for the wall, expected %v", w, p.Step)
	}
}

// Amid a long wait a step passes now and then: a controller that left samples out answers one that is not out yet.
func TestAStepPassesAmidALongWait(t *testing.T) {
	start := time.Unix(1000, 0)
	p := Pace{Step: 5 * time.Millisecond, Speed: 1, Lockstep: true, Period: 20 * ms, Patience: time.Minute,
		commanded: 1}
	p.Sampled(1 + 20*ms)
	steps, now := 0, start
	for ; !p.Tired(now); now = now.Add(10 * time.Millisecond) {
		if p.Wait(now) > 0 {
			continue
		}
		p.Advanced(now)
		if steps++; steps == 3 {
			break
		}
	}
	if waited := now.Sub(start); steps != 3 || waited < 3*nudge || waited > 4*nudge {
		t.Errorf("%d steps in %v", steps, waited)
	}
	p.Came(1 + 25*ms)
	if w := p.Wait(now); w > 0 {
		t.Errorf("after its command it waits %v", w)
	}
}
