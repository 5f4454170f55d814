package controller

import (
	"fmt"
	"strings"
	"time"
)

// fault is what was wrong with something that came, and when that was.
type fault struct {
	text string
	at   int64 // ns of monotonic
}

// shown is for how long /diagnostics has a fault after it came last.
const shown = 3 * time.Second

// recent is the text of a fault that /diagnostics has at now, "" else. A nil fault has none.
func (f *fault) recent(now int64) string {
	if f == nil || now-f.at > int64(shown) {
		return ""
	}
	return f.text
}

// refuse has /diagnostics show for a while what was wrong with a sample, or with what else comes all the time.
func (g *gauges) refuse(err error) { g.trouble.Store(&fault{err.Error(), monotonic()}) }

// refuseBundle has /diagnostics show what was wrong with the newest bundle, until one flies.
func (g *gauges) refuseBundle(err error) {
	text := err.Error()
	g.badBundle.Store(&text)
}

// forget takes down that nothing was wrong.
func (g *gauges) forget() {
	g.trouble.Store(nil)
	g.badBundle.Store(nil)
}

// refuseSample counts a sample without a use, shows why, and logs each reason once.
func (c *Controller) refuseSample(err error) {
	c.gauges.refused.Add(1)
	c.gauges.refuse(err)
	if c.logged.First(err.Error()) {
		c.Log().Error().Msg(err.Error())
	}
}

// expected reports whether a sample is of the world's frame; the first sample says which that is where no parameter
// does.
func (c *Controller) expected(frame string) bool {
	world := c.worldFrame.Load()
	if world == nil {
		frame = strings.Clone(frame)
		c.worldFrame.Store(&frame)
		return true
	}
	if frame == *world {
		return true
	}
	c.refuseSample(fmt.Errorf("topic %s: a sample in frame %.40q is refused, expected %q (parameter world_frame)",
		c.source, frame, *world))
	return false
}
