package guard

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// recordedTick is a tick of a flight: the state that came, and the command that went out.
type recordedTick struct {
	now, stamp float64
	state      quad.State
	sent       quad.Command
}

// onBetaflight are two stretches of a figure-eight in 3 m/s² of wind on Betaflight 4.6 (benchmarks/autopilots.md). At
// the end of each the rotors turn the robot quickly, and lift it: in the first a new policy asks for that.
func onBetaflight(t *testing.T) (flights [2][]recordedTick) {
	f, err := os.Open("testdata/betaflight.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, row := range rows[1:] {
		var x [16]float64
		for i := range x {
			if x[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		v := func(i int) so3.Vec3 { return so3.Vec3{X: x[i], Y: x[i+1], Z: x[i+2]} }
		q := so3.Quat{W: x[5], X: x[6], Y: x[7], Z: x[8]}
		if k := len(flights[n]); k > 0 && x[0] > flights[n][k-1].now+1 {
			n++
		}
		flights[n] = append(flights[n], recordedTick{x[0], x[1], quad.State{P: v(2), V: v(9), Q: q},
			quad.Command{Thrust: x[12], Rates: v(13)}})
	}
	return flights
}

// driftedIn reports whether a flight is said to drift whose source drifts by a velocity in its last seconds.
func driftedIn(flight []recordedTick, velocity so3.Vec3, last float64) (found bool) {
	var d detector
	var p plant
	param.Default(&p.response)
	end := flight[len(flight)-1].stamp
	for i := range flight {
		k := flight[i]
		if since := k.stamp - (end - last); since > 0 {
			k.state.P, k.state.V = k.state.P.Add(velocity.Scale(since)), k.state.V.Add(velocity)
		}
		d.add(&k.state, k.stamp, &p)
		_, now := d.drifting()
		found = found || now
		p.send(k.now, k.sent)
	}
	return found
}

// Quick turns lift a robot whose mixer does not hold the thrust. That is no drift. A source that drifts before the
// turns, or quickly from them on, is found all the same.
func TestLiftOfQuickTurnsIsNoDrift(t *testing.T) {
	flights := onBetaflight(t)
	const before, turns = 0.8, 0.42 // s before the end
	for i, name := range []string{"a new policy", "the same policy"} {
		for _, c := range []struct {
			name     string
			velocity so3.Vec3
			last     float64
		}{
			{"no drift", so3.Vec3{}, turns},
			{"x drifts before", so3.Vec3{X: 0.12}, before}, {"y drifts before", so3.Vec3{Y: -0.12}, before},
			{"x drifts", so3.Vec3{X: 0.25}, turns}, {"y drifts", so3.Vec3{Y: -0.25}, turns},
		} {
			t.Run(name+", "+c.name, func(t *testing.T) {
				if found := driftedIn(flights[i], c.velocity, c.last); found != (c.velocity != so3.Vec3{}) {
					t.Errorf("drifts: %v", found)
				}
			})
		}
	}
}

// Quick turns lift a robot, or lift it no more. They explain little of a kink of the other sign.
func TestLiftExplainsLittleOfTheOtherSide(t *testing.T) {
	for _, c := range []struct{ speed, lifted, left float64 }{
		{0.1, 0.3, 0}, {0.1, 0.04, 0.06}, {0.1, -0.2, 0.05}, {-0.1, -0.3, 0}, {-0.1, -0.04, -0.06}, {-0.1, 0.2, -0.05},
	} {
		k := kink{off: bend{speed: so3.Vec3{X: 0.02, Z: c.speed}}, up: so3.Vec3{Z: 1}, lifted: c.lifted}
		if left := new(misfit).left(&k); math.Abs(left.Z-c.left) > 1e-12 || left.X != 0.02 {
			t.Errorf("of a kink of %g m/s, where quick turns lift by %g, %v is left", c.speed, c.lifted, left)
		}
	}
}

// Ticks take the newest sample each, so that samples of 120 or 240 Hz come 16.7 to 25 ms apart. A source that drifts
// shows all the same.
func TestDriftShowsAtEveryRate(t *testing.T) {
	for _, rate := range []float64{50, 100, 120, 180, 200, 240, 360} {
		for _, speed := range []float64{0, 0.12} { // m/s
			var flight []recordedTick
			for k := range 300 {
				now := 0.02*float64(k) + 0.001
				stamp := math.Floor(now*rate) / rate
				s := quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}
				flight = append(flight, recordedTick{now, stamp, s, hoverCommand})
			}
			if found := driftedIn(flight, so3.Vec3{X: speed}, 1.5); found != (speed > 0) {
				t.Errorf("%g Hz: a drift of %g m/s is found: %v", rate, speed, found)
			}
		}
	}
}

// unevenFlight is a robot that turns about at up to 4 m/s², and leans against a wind. Its source drifts at a speed,
// m/s, from the 200th sample on, and one sample comes late by some s, or never.
func unevenFlight(at int, late, speed float64) (flight []recordedTick) {
	const wind, begins = 3.0, 0.02 * 200 // m/s², s
	for k := range 300 {
		stamp := 0.02 * float64(k)
		if k == at && late > 1 {
			continue
		} else if k == at {
			stamp += late
		}
		y, vy := math.Sincos(2 * stamp)
		pull := 4*y + wind
		flight = append(flight, recordedTick{stamp + 0.005, stamp,
			quad.State{P: so3.Vec3{X: speed * max(stamp-begins, 0), Y: y, Z: 1}, V: so3.Vec3{Y: 2 * vy},
				Q: so3.Exp(so3.Vec3{X: math.Atan(pull / quad.Gravity)})},
			quad.Command{Thrust: math.Hypot(quad.Gravity, pull)}})
	}
	return flight
}

// One sample that is lost, or comes late with its stamp, hides no drift that begins about then, and is none.
func TestDriftShowsAmidUnevenSamples(t *testing.T) {
	for _, late := range []float64{0.008, 0.012, math.Inf(1)} { // s; never
		for at := 170; at <= 210; at += 5 {
			for _, speed := range []float64{0, 0.12} { // m/s
				if found := driftedIn(unevenFlight(at, late, speed), so3.Vec3{}, 0); found != (speed > 0) {
					t.Errorf("sample %d comes %g s late, a drift of %g m/s: found %v", at, late, speed, found)
				}
			}
		}
	}
}

// answered is a hover whose height drifts from 4 s on, while a stiff law answers what it sees at once. Thrust follows
// after 10 ms with a lag of 30 ms. It returns the greatest speed that the kink is said to have, m/s, or 0.
func answered(drift float64) (speed float64) {
	const step, rows, begins, delay, lag = 0.001, 300, 4.0, 10, 0.03
	var d detector
	var p plant
	param.Default(&p.response)
	rng := rand.New(rand.NewPCG(5, 6))
	noise := func(deviation float64) float64 { return deviation * rng.NormFloat64() }
	var sent [delay]float64 // thrusts on their way, less the weight
	thrust, z, v := 0.0, 0.0, 0.0
	for row := range rows {
		now := 0.02 * float64(row)
		seen, rate := z+drift*max(now-begins, 0)+noise(0.0003), v+noise(0.01)
		if now > begins {
			rate += drift
		}
		d.add(&quad.State{P: so3.Vec3{Z: 1 + seen}, V: so3.Vec3{Z: rate}, Q: so3.Identity()}, now, &p)
		if _, found := d.drifting(); found && math.Abs(d.kink.Z) > math.Abs(speed) {
			speed = d.kink.Z
		}
		a := min(max(-120*seen-22*rate, -8), 10)
		p.send(now, quad.Command{Thrust: quad.Gravity + a})
		for range 20 {
			thrust += (sent[0] - thrust) * step / lag
			copy(sent[:], sent[1:])
			sent[delay-1] = a
			z, v = z+v*step, v+thrust*step
		}
	}
	return speed
}

// A policy that answers a drift at once does not hide it: the answer is not taken for thrust that comes early.
func TestDriftThatIsAnsweredShows(t *testing.T) {
	for _, drift := range []float64{0, 0.14, -0.14, 0.3, -0.3, 0.6, -0.6} { // m/s
		if found := answered(drift); math.Abs(found-drift) > 0.1*math.Abs(drift) {
			t.Errorf("a drift of %g m/s is found at %.3f m/s", drift, found)
		}
	}
}
