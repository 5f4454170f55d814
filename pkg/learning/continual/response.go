package continual

import (
	"math"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot/quadrotor"
)

// Respond has the nominal quadrotors respond about as an airframe was found to, where the configuration does not say
// how they do.
func Respond(n *quadtrain.Nominal, r *preflight.Response) {
	var said quadtrain.Nominal
	param.Default(&said)
	if *n != said || !r.Known() {
		return
	}
	const spread, mostLag = 0.3, 0.3 // share; s
	n.MinLag = (1 - spread) * min(r.ThrustLag, r.RateLag)
	n.MaxLag = min(mostLag, (1+spread)*max(r.ThrustLag, r.RateLag))
	n.MaxDelay = min(quadrotor.MaxDelay, (1+spread)*max(r.ThrustDelay, r.RateDelay)/n.Dt)
	n.Gain = min(0.5, max(n.Gain, math.Abs(r.ThrustGain-1)))
}
