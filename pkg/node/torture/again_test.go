package torture

import (
	"fmt"
	"time"

	"vnd/pkg/flight/guard"
)

// onTheGround is where the robot begins, and where it is carried back to. Put into the air, it would fall under a guard
// that has it landed.
const onTheGround = "start:=[0.0, 0.0, 0.0]"

// untilLanded is how long a guard gets after an accident until it has the motors off. It may believe no state any
// more, where the robot lies far outside of the fence.
const untilLanded = 30 * time.Second

// again waits until the policy flies, of the steps from the i-th on, and says how that came about. A robot that has
// landed takes off; after an accident it is carried back before.
func (e *endurance) again(i int) string {
	landed, waits := false, time.Now()
	for end := waits.Add(patience); time.Now().Before(end); {
		flies, off, low := false, false, false
		e.note(func() {
			if n := len(e.steps); n > i {
				last := &e.steps[n-1]
				recent := time.Since(last.at) < time.Second
				flies = recent && e.flies(i, 25) && e.place.Z > 0.5 && inFence(e.place)
				off, low = recent && last.stage == guard.Off, e.place.Z < 0.3
			}
		})
		switch {
		case flies:
			e.grounded = false
			return e.flew(landed)
		case off && e.grounded:
			e.carryBack()
			landed, i = true, 0
		case e.grounded && time.Since(waits) > untilLanded:
			e.renew()
			landed, i, waits = true, 0, time.Now()
		case off && low:
			landed = true
			e.trigger("reset_guard") // hidden delay that lasts and drift are forgotten by a person alone
			e.trigger("takeoff")
		}
		e.pass(50 * time.Millisecond)
	}
	why := ""
	e.note(func() {
		why = fmt.Sprintf("%d steps, the robot is at %v, the controller says %q", len(e.steps), e.place, e.controls)
	})
	e.fail("the robot does not fly again in %v: %s; the last step %+v", patience, why, e.newest())
	e.renew()
	return "failed"
}

// flew says what the guard did during a fault.
func (e *endurance) flew(landed bool) (how string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if landed {
		return "landed"
	}
	for _, s := range e.steps {
		if !s.stage.PolicyFlies() {
			return "held"
		}
	}
	return "flown"
}

// renew starts controller and guard anew, with the robot where it began.
func (e *endurance) renew() {
	for _, p := range e.nodes[:2] {
		p.kill()
		p.again()
		e.lives[p]++
	}
	e.carryBack()
	e.grounded = true
}

// carryBack puts the robot onto the ground where it began. Its motors are off, or nobody commands it.
func (e *endurance) carryBack() {
	e.touch.carry(true)
	e.trigger("reset")
	time.Sleep(time.Second) // what was said of it before has come
	e.touch.carry(false)
	e.grounded = false
	e.note(func() { e.outside, e.steps = "", e.steps[:0] })
}
