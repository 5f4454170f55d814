package controller

import (
	"fmt"
	"math"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
)

// publishSteps publishes the ticks of a policy as steps, and logs what the guard does, until stop is closed.
func (c *Controller) publishSteps(f *ticker, stop <-chan struct{}) {
	var m msgs.Step
	var logged guardLog
	var flight control.Ended
	ended := false // and nothing else since
	for {
		for t := f.ticks.Front(); t != nil; t = f.ticks.Front() {
			if c.role.hasVehicle() {
				c.logGuard(f, &logged, authority{t.Stage, t.Cause})
				ended = flight.Due(t.Stage, time.Duration(c.Now())) || ended && t.Stage == guard.Off
			}
			c.noteRollBack(f.rolledBack.Swap(nil))
			c.last.Put(func(last *control.TickRecord) {
				*last = *t
				last.Reference, last.Latent = nil, nil
			})
			if c.role.hasPolicy() {
				bridge.PutStep(&m, t, c.world())
			}
			f.ticks.Pop()
			if !c.role.hasPolicy() {
				continue
			}
			if err := c.steps.Publish(&m); err != nil {
				c.gauges.unpublished.Add(1)
			}
		}
		if ended { // not by ticks that waited here: the robot may have taken off again
			ended = false
			go c.disarmLanded()
		}
		select {
		case <-stop:
			return
		case <-f.recorded:
		}
	}
}

// noteRollBack takes down that the bundle of before flies again; nil: it does not.
func (c *Controller) noteRollBack(p *control.LoadedPolicy) {
	if p == nil {
		return
	}
	c.mu.Lock()
	bad := c.policy
	c.policy = p
	c.mu.Unlock()
	c.Log().Warn().Msgf("bundle %s flies again: the guard tripped soon after the swap to %s", p.ID, bad.ID)
}

// authority is who flies, and why.
type authority struct {
	guard.Stage
	guard.Cause
}

// guardLog is what logGuard has logged.
type guardLog struct{ tripped, landed bool }

// logGuard logs a guard that trips, the end of its landing, and that the policy has control authority again. Of a robot
// that stands and lacks its state, which may come and go, /diagnostics tells.
func (c *Controller) logGuard(f *ticker, logged *guardLog, now authority) {
	stands := now.Stage == guard.Off
	switch {
	case now.PolicyFlies():
		if logged.tripped {
			c.Log().Info().Msg("the policy flies again")
		}
		*logged = guardLog{}
	case !now.HoldsAuthority() || now.Cause == guard.None:
	case !logged.tripped && stands && now.Cause == guard.Stale:
	case !logged.tripped:
		c.Log().Error().Msg(f.guarded(now))
		*logged = guardLog{tripped: true, landed: stands}
	case !stands: // it has taken off again
		logged.landed = false
	case !logged.landed:
		first := ""
		if now.Cause == guard.Delayed { // which stays known where it lasts
			first = "~/reset_guard, then "
		}
		c.Log().Warn().Msgf("the guard has landed: least thrust (%v); %s~/takeoff takes off again", now.Cause, first)
		logged.landed = true
	}
}

// guarded says why the guard flies.
func (f *ticker) guarded(b authority) string {
	if b.Cause == guard.Missed {
		return fmt.Sprintf("the guard flies: %v, %.3f s between two ticks (%v)", b.Cause, float64(f.gap.Load())/1e9,
			b.Stage)
	}
	if ahead := f.newest.Load() - f.at.Load(); b.Cause == guard.Stale && ahead > 0 {
		return fmt.Sprintf("the guard flies: the state is stamped %.3f s after this clock (%v)", float64(ahead)/1e9,
			b.Stage)
	}
	return fmt.Sprintf("the guard flies: %v (%v)", b.Cause, b.Stage)
}

func (c *Controller) world() string {
	if f := c.worldFrame.Load(); f != nil {
		return *f
	}
	return "world"
}

// show publishes a task as a path, for people to see.
func (c *Controller) show(k *control.TaskReference) {
	const step, most = 0.05, 1000 // s, points
	end := k.Path.Horizon()
	n := int(min(math.Ceil(end/step), most-1))
	m := &navmsgs.Path{Poses: make([]geometrymsgs.PoseStamped, 0, n+1)}
	m.Header.Stamp, m.Header.FrameID = c.Now().Msg(), c.world()
	for i := range n + 1 {
		r := k.Path.At(end * float64(i) / float64(max(n, 1)))
		var p geometrymsgs.PoseStamped
		bridge.PutPoseStamped(&p, int64(c.Now()), m.Header.FrameID, quad.State{P: r.P, Q: so3.FromEuler(0, 0, r.Yaw)})
		m.Poses = append(m.Poses, p)
	}
	if err := c.path.Publish(m); err != nil {
		c.Log().Warn().Msg(err.Error())
	}
}
