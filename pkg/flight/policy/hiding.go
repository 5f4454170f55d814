package policy

import "vnd/pkg/core/so3"

// hiding asks along a path whether what moves of push and latent helps at all. Under a load on a cable, or where
// commands come late, the answers of a policy are part of the swing. Nothing in the push tells that swing from what
// weak motors lack in each turn; position errors do. Where a policy errs far for long, it flies without what moves,
// and goes on so where that takes much of the error away. From time to time it tries to answer again. The zero value
// answers.
type hiding struct {
	hides   bool
	share   float64 // that is hidden: follows hides within easing
	time    float64 // s, of the window
	sum     float64 // of square position errors in the window, m² s
	windows int     // along the path, up to settling
	far     int     // windows far off in a row
	farSum  float64 // of their mean square errors, m²
	trial   int     // windows that the trial of hiding, or of answering, has left; 0: none is on
	before  float64 // mean square error of the last window before it, m²
	wait    int     // windows until the next one
	longest int     // of such waits: doubles with each trial that is of no use, up to mostWait
}

const (
	pathSpeed  = 0.3  // m/s, of a reference; below a robot hovers
	errWindow  = 2    // s, over which a mean square error is
	errsFar    = 0.02 // m
	settling   = 3    // windows, of which the last counts: a path begins in a wind that nobody has felt
	farWindows = 4    // in a row: a load that is hung on, or a wind that sets in, is over within less
	hideTrial  = 6    // windows, which a swing has to die down in
	stirs      = 3    // of them, in which to answer no longer may stir it up
	trial      = 3    // windows of a trial of answering
	mostLeft   = 0.6  // of the mean square error, for what was hidden to stay so
	notLess    = 0.9  // of the mean of those: an error that falls goes away by itself
	trialWait  = 10   // windows
	mostWait   = 150  // windows
	easing     = 1    // s
)

// step takes the position error of a tick of dt seconds along a reference of some speed, m/s.
func (h *hiding) step(err so3.Vec3, speed, dt float64) {
	if !(dt > 0 && dt < longestTick && speed > pathSpeed && err.Finite()) {
		return
	}
	if h.hides {
		h.share = min(h.share+dt/easing, 1)
	} else {
		h.share = max(h.share-dt/easing, 0)
	}
	h.sum += err.Dot(err) * dt
	h.time += dt
	worse := h.trial > 0 && !h.hides && h.sum > 2*h.before*errWindow // a swing comes back
	if worse || h.time >= errWindow {
		mean := h.sum / errWindow
		h.sum, h.time = 0, 0
		h.judge(mean)
	}
}

// judge takes the mean square error of a window.
func (h *hiding) judge(mean float64) {
	h.windows = min(h.windows+1, settling)
	if h.far, h.farSum = h.far+1, h.farSum+mean; mean < errsFar*errsFar || h.windows < settling {
		h.far, h.farSum = 0, 0
	}
	if h.trial > 0 {
		h.try(mean)
		return
	}
	stays := h.far >= farWindows && mean > notLess*h.farSum/float64(h.far)
	if h.wait = max(h.wait-1, 0); h.wait == 0 && (h.hides || stays) {
		h.hides, h.trial, h.before = !h.hides, trial, mean
		if h.hides {
			h.trial = hideTrial
		}
	}
}

// try goes on with a trial, or goes back to what was before.
func (h *hiding) try(mean float64) {
	h.trial--
	most := h.before
	if h.hides && h.trial == 0 {
		most *= mostLeft
	}
	switch {
	case mean > most && (h.trial < hideTrial-stirs || !h.hides):
		h.longest = min(max(2*h.longest, trialWait), mostWait)
		h.hides, h.trial, h.wait = !h.hides, 0, h.longest
	case h.trial == 0:
		h.wait, h.longest = trialWait, trialWait
	}
}
