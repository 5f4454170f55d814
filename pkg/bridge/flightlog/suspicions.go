package flightlog

import (
	"fmt"
	"math"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

const (
	plausibleRate  = 20.0 // rad/s, 99th percentile of |ω_B|; the most agile real flights at hand reach 15.4
	thrustFactor   = 2.5  // a flight's mean thrust per mass is g within this factor
	slopeFactor    = 5.0  // a said rate or velocity and the measured one agree within this factor, or the unit is wrong
	followingFrom  = 0.5  // correlation from which a measured motion follows the said one
	noticeableMove = 0.1  // m/s rms of said velocity, below which nothing is judged

	plausibleAcceleration = 100.0 // m/s² rms over a flight; the most agile real flights at hand reach 5.9
)

// suspicion is a warning about units or frames.
type suspicion struct {
	column int
	text   string
}

// suspicions are the warnings about units and frames. All of them hold for whole flights, so that single rows and
// noise do not trigger them. estimated says that velocities were made from positions, and tell nothing of their own.
func suspicions(f quad.Flight, o Options, estimated bool) []suspicion {
	var out []suspicion
	suspect := func(column int, text string) {
		if text != "" {
			out = append(out, suspicion{column, text})
		}
	}
	suspect(colThrust, suspectThrust(f))
	suspect(colWX, suspectRates(f, o))
	if estimated {
		suspect(colPX, suspectPosition(f, o.Delta))
	} else {
		suspect(colVX, suspectVelocity(f, o.Delta))
	}
	return out
}

func meanThrust(f quad.Flight) float64 {
	sum, n := 0.0, 0
	for _, s := range f.Segments {
		for _, step := range s {
			sum += step.Command.Thrust
			n++
		}
	}
	return sum / float64(n)
}

func suspectThrust(f quad.Flight) string {
	mean := meanThrust(f)
	if mean >= quad.Gravity/thrustFactor && mean <= quad.Gravity*thrustFactor {
		return ""
	}
	text := fmt.Sprintf("mean %.4g, while hover is %.2f m/s²: ", mean, quad.Gravity)
	if mean >= 0 && mean <= 1 {
		return text + "it looks like a throttle or newtons of a small vehicle, expected thrust per mass"
	}
	return text + "it looks like newtons, grams or PWM, expected thrust per mass"
}

func suspectRates(f quad.Flight, o Options) string {
	if o.Limits.Rate > 0 {
		return "" // the airframe has said what to think of them
	}
	var norms []float64
	for _, s := range f.Segments {
		for _, step := range s {
			norms = append(norms, step.Command.Rates.Norm())
		}
	}
	slices.Sort(norms)
	if p99 := norms[len(norms)*99/100]; p99 > plausibleRate {
		return fmt.Sprintf("99th percentile of the rates %.3g, more than vehicles turn: they look like degrees per "+
			"second, expected rad/s", p99)
	}
	// Gentle flights stay small in degrees too, but then the attitude does not turn as it is told.
	slope, correlation := turning(f, o.Delta)
	if correlation > followingFrom && slope < 1/slopeFactor {
		return fmt.Sprintf("the attitude turns %.4g times slower than the rates say: they look like degrees per "+
			"second, expected rad/s", 1/slope)
	}
	if correlation > followingFrom && slope > slopeFactor {
		return fmt.Sprintf("the attitude turns %.4g times as fast as the rates say: they look like radians taken "+
			"for degrees, expected rad/s", slope)
	}
	return ""
}

func suspectVelocity(f quad.Flight, delta float64) string {
	var m motion
	for _, s := range f.Segments {
		for k := 1; k < len(s); k++ {
			moved := s[k].State.P.Sub(s[k-1].State.P).Scale(1 / delta)
			m.add(moved, s[k].State.V.Add(s[k-1].State.V).Scale(0.5))
		}
	}
	if m.n == 0 || math.Sqrt(m.saidSaid/float64(m.n)) < noticeableMove {
		return ""
	}
	slope, correlation := m.slope()
	if correlation < followingFrom {
		return fmt.Sprintf("the position does not move along it (correlation %.2f): it looks like another frame, "+
			"expected the world's", correlation)
	}
	if slope > slopeFactor || slope < 1/slopeFactor {
		return fmt.Sprintf("the position moves %.4g times as fast: position or velocity is in another unit, "+
			"expected m and m/s", slope)
	}
	return ""
}

// suspectPosition compares the change of the velocity, which was made from the positions, with what thrust and attitude
// say, over a few rows so that noise stays below.
func suspectPosition(f quad.Flight, delta float64) string {
	const over = 5
	var m motion
	for _, s := range f.Segments {
		for k := over; k < len(s); k++ {
			said := so3.Vec3{}
			for _, step := range s[k-over : k] {
				said = said.Add(step.State.Q.ZAxis().Scale(step.Command.Thrust / over))
			}
			said.Z -= quad.Gravity
			m.add(s[k].State.V.Sub(s[k-over].State.V).Scale(1/(over*delta)), said)
		}
	}
	if m.n == 0 {
		return ""
	}
	if rms := math.Sqrt(m.seenSeen / float64(m.n)); rms > plausibleAcceleration {
		return fmt.Sprintf("it accelerates by %.3g m/s² rms: it looks like millimetres, expected m", rms)
	}
	if slope, correlation := m.slope(); correlation > followingFrom && slope < 1/(slopeFactor*slopeFactor) {
		return fmt.Sprintf("it accelerates %.3g times less than thrust and attitude say: it looks like kilometres, "+
			"expected m", 1/slope)
	}
	return ""
}

// turning compares the measured body rates, Log(q_k⁻¹·q_{k+1})/Δt, with the commands a few steps before, at the lag
// that fits best: vehicles follow their commands by 20 to 60 ms.
func turning(f quad.Flight, delta float64) (slope, correlation float64) {
	correlation = -1
	for lag := range 6 {
		var m motion
		for _, s := range f.Segments {
			for k := lag; k+1 < len(s); k++ {
				turned := so3.Log(s[k].State.Q.Conj().Mul(s[k+1].State.Q)).Scale(1 / delta)
				m.add(turned, s[k-lag].Command.Rates)
			}
		}
		if m.n == 0 || m.saidSaid == 0 || m.seenSeen == 0 {
			continue
		}
		if a, r := m.slope(); r > correlation {
			slope, correlation = a, r
		}
	}
	return slope, correlation
}

// motion sums products of a motion as measured and as said.
type motion struct {
	n                            int
	seenSaid, saidSaid, seenSeen float64
}

func (m *motion) add(seen, said so3.Vec3) {
	m.n++
	m.seenSaid += seen.Dot(said)
	m.saidSaid += said.Dot(said)
	m.seenSeen += seen.Dot(seen)
}

// slope of measured over said, and their correlation.
func (m *motion) slope() (slope, correlation float64) {
	return m.seenSaid / m.saidSaid, m.seenSaid / math.Sqrt(m.saidSaid*m.seenSeen)
}
