package policy

import "math"

// LatentMean takes the mean of the newest latents for as long as each stays near it. One that is further off begins the
// mean anew, with a memory of a few: there the condition changes. In steady flight latents are noisy, and their noise
// shakes a stiff policy. A load on a cable has them swing to and fro: of a swing the mean is what stays.
type LatentMean struct {
	Rows  int     `param:"rows" default:"200" min:"0" max:"10000" unit:"rows" doc:"latents of the mean, from then on its memory; 0 takes the newest alone"`
	Reset float64 `param:"reset" default:"1.2" min:"0" max:"100" doc:"distance from the mean at which it begins anew, in standard deviations of the latent's prior"`
}

// latents are those of a mean so far.
type latents struct {
	rows  int       // in the mean
	off   []float32 // [Z] from the mean to the newest one that was far from it
	since int       // latents since that one
	stays int       // of those far off, how many came at once after another on the same side
	turns int       // of those far off, how many followed one on the other side soon
}

// leastMean is the memory of a mean that begins anew, in latents. Those of a robot that was thrown off its place jump
// by several deviations from one to the next. Where each counts alone, a policy that answers them throws it further.
const leastMean = 5

// A robot that shakes has its latents go to and fro several times a second. No condition does that: a latent is of
// 0.4 s. A policy that answers each of them keeps the shake up.
const (
	shakeRows   = 7   // latents from one far off to the next on the other side, at most: slower swings come of paths
	shakeTurns  = 2   // turns that are no accident
	shakeBack   = 0.5 // least cosine between one far off and the way back from it
	shakeMean   = 20  // latents of the mean while it shakes, at most: within as many a change of the condition counts
	shakeStays  = 8   // latents far off on one side, at once: a shake is back by then, a condition has changed
	shakeMemory = 50  // latents, none of them far off, after which it shakes no more
)

// add takes z into a mean of latents. hidden is that of Runner.Hidden.
func (m *LatentMean) add(mean []float32, l *latents, z []float32, hidden float64) {
	var square float64
	for j, x := range z {
		d := (1 - hidden) * float64(x-mean[j])
		square += d * d
	}
	most := m.Rows
	l.since++
	if !(square <= m.Reset*m.Reset) {
		if most = min(m.Rows, leastMean); l.shakes(mean, z) {
			most = min(m.Rows, shakeMean)
		}
		if math.IsNaN(square) || math.IsInf(square, 0) { // of what is no number no part is kept
			most = 1
		}
	}
	if l.rows = min(l.rows+1, most); l.rows <= 1 {
		copy(mean, z)
		l.rows = 1
		return
	}
	for j, x := range z {
		mean[j] += (x - mean[j]) / float32(l.rows)
	}
}

// shakes takes a latent that is far from the mean, and reports whether it is one of those that go to and fro.
func (l *latents) shakes(mean, z []float32) bool {
	var dot, before, now float64
	for j, x := range z {
		d := x - mean[j]
		dot += float64(d * l.off[j])
		before += float64(l.off[j] * l.off[j])
		now += float64(d * d)
		l.off[j] = d
	}
	if l.stays++; l.since > 1 || !(dot > 0) {
		l.stays = 0
	}
	switch {
	case l.stays >= shakeStays || l.since > shakeMemory || math.IsNaN(now) || math.IsInf(now, 1):
		l.turns = 0
	case l.since <= shakeRows && dot < -shakeBack*math.Sqrt(before*now):
		l.turns++
	}
	l.since = 0
	return l.turns >= shakeTurns
}

// begin forgets the latents so far.
func (l *latents) begin() { l.rows, l.since, l.stays, l.turns = 0, 0, 0, 0 }
