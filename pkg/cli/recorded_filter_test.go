package cli

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/smooth"
	"vnd/pkg/robot/quadrotor"
)

// spoiled is what poses of recorded flights are made worse by.
type spoiled struct {
	position, attitude float64 // m, rad
	late               int     // rows
}

// squares are sums of squared errors, beside what smoothing found.
type squares struct{ fit, filter, measured, turn, known, rows float64 }

// TestFilterOnRecordedFlights has the filter of poses and a fit to them make states of recorded flights, good ones and
// spoiled ones. VND_FLIGHTS names the folder.
func TestFilterOnRecordedFlights(t *testing.T) {
	folder := os.Getenv("VND_FLIGHTS")
	if folder == "" {
		t.Skip("reads recorded flights: VND_FLIGHTS=FOLDER")
	}
	o := flightlog.DefaultOptions()
	flights, err := flightlog.ReadAll(t.Context(), []string{folder}, o, func(flightlog.Warning) {})
	if err != nil {
		t.Fatal(err)
	}
	segments := dataset.FromFlights(flights)
	a, err := quadrotor.Identify(t.Context(), o.Delta, smooth.Known(segments))
	if err == nil {
		err = smooth.Fill(t.Context(), o.Delta, a, segments)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []spoiled{{}, {0.003, 0.02, 0}, {0, 0, 3}, {0.003, 0.02, 3}} {
		var sum squares
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range segments {
			if s := &segments[i]; s.Smoothed != nil && len(s.Rows) >= 200 {
				sum.follow(s, c, a, o.Delta, rng)
			}
		}
		rms := func(x float64) float64 { return 1e3 * math.Sqrt(x/sum.known) }
		t.Logf("%+v: velocity of a fit %.0f mm/s, of the filter %.0f; attitude as measured %.1f mrad, "+
			"of the filter %.1f; known %.3f", c, rms(sum.fit), rms(sum.filter), rms(sum.measured), rms(sum.turn),
			sum.known/sum.rows)
	}
}

// follow adds what both make of a segment, from its third second on.
func (q *squares) follow(s *dataset.Segment, c spoiled, a quadrotor.Actuator, dt float64, rng *rand.Rand) {
	var g guard.Config
	var p estimator.Params
	param.Default(&g)
	param.Default(&p)
	g.Response.ThrustDelay, g.Response.ThrustLag = a.ThrustDelay*dt, a.ThrustLag
	g.Response.RateDelay, g.Response.RateLag = a.RateDelay*dt, a.RateLag
	motion := guard.NewPredictor(&g)
	filter := inertial.NewCommandEstimator(motion.Moves)
	fit, err := estimator.New(p)
	if err != nil {
		panic(err) // the defaults are in range
	}
	normal := func(sigma float64) so3.Vec3 {
		return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(sigma)
	}
	for k := range s.Rows {
		now, u := s.Rows[k].T-s.Rows[0].T+1, s.Rows[k].Command
		if j := k - c.late; j >= 0 {
			r := &s.Rows[j]
			z := inertial.Pose{T: r.T - s.Rows[0].T + 1, P: r.State.P.Add(normal(c.position)),
				Q: r.State.Q.Normalize().Mul(so3.Exp(normal(c.attitude)))}
			filter.AddPose(z, now)
			x, outcome := fit.Add(estimator.Pose{T: z.T, P: z.P, Q: z.Q})
			if y, ok := filter.At(now); k > 100 && outcome == estimator.Ready {
				q.add(&s.Smoothed[k].State, &x, &y, ok)
			}
		}
		motion.Send(now, quad.Command{Thrust: a.ThrustGain * u.Thrust, Rates: u.Rates.Scale(a.RateGain)}, so3.Vec3{})
	}
}

// add takes the errors of both, where there is a state of the filter.
func (q *squares) add(truth, fit, filter *quad.State, known bool) {
	if q.rows++; !known {
		return
	}
	square := func(v so3.Vec3) float64 { return v.Dot(v) }
	turned := func(s *quad.State) float64 { return square(so3.Log(s.Q.Conj().Mul(truth.Q))) }
	q.known++
	q.fit, q.filter = q.fit+square(fit.V.Sub(truth.V)), q.filter+square(filter.V.Sub(truth.V))
	q.measured, q.turn = q.measured+turned(fit), q.turn+turned(filter)
}
