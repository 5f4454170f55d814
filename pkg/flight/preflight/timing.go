package preflight

import (
	"fmt"
	"math"
	"slices"

	"vnd/pkg/core/so3"
)

// Bounds of what can be flown with.
const (
	mostDelay = 0.040 // s, of poses
	mostLoop  = 0.055 // s, of the whole way from a command to the motion, lag not counted; measured: 10 to 40 ms
	leastRate = 45.0  // Hz
	longGap   = 0.1   // s
)

// Timing judges stamps and arrivals of samples in the order of their arrival; topic is their name.
func Timing(topic string, s []Sample) []Finding {
	const few = 20
	if len(s) < few {
		return []Finding{wrong("samples", fmt.Sprintf("topic %s: %d samples, expected at least %d", topic, len(s), few),
			"is the driver running, and the body in view?")}
	}
	gap, back, same, empty := 0.0, 0, 0, 0
	for i, x := range s {
		if x.Stamp == 0 {
			empty++
		}
		if i == 0 {
			continue
		}
		gap = math.Max(gap, x.Arrival-s[i-1].Arrival)
		switch d := x.Stamp - s[i-1].Stamp; {
		case d < 0:
			back++
		case d == 0:
			same++
		}
	}
	f := []Finding{rates(topic, rate(s), gap)}
	return append(f, stamps(topic, delays(s), empty, back, same, len(s)))
}

// rate is how often samples arrive, Hz.
func rate(s []Sample) float64 { return float64(len(s)-1) / (s[len(s)-1].Arrival - s[0].Arrival) }

// delays are how old samples are when they arrive, s, the least first.
func delays(s []Sample) []float64 {
	all := make([]float64, len(s))
	for i := range s {
		all[i] = s[i].Arrival - s[i].Stamp
	}
	slices.Sort(all)
	return all
}

func rates(topic string, rate, gap float64) Finding {
	detail := fmt.Sprintf("topic %s: %.0f Hz, longest gap %.0f ms", topic, rate, 1000*gap)
	switch {
	case rate < leastRate:
		return wrong("rate", detail, fmt.Sprintf("expected at least %.0f Hz: the control rate is 50 Hz", leastRate))
	case gap > longGap:
		return wrong("rate", detail, fmt.Sprintf("gaps beyond %.0f ms let the guard take over: is the body lost "+
			"from view, or the network busy?", 1000*longGap))
	}
	return fine("rate", detail)
}

func stamps(topic string, delays []float64, empty, back, same, n int) Finding {
	const name, other = "delay", 10.0 // s
	middle, late := delays[len(delays)/2], delays[len(delays)*99/100]
	detail := fmt.Sprintf("topic %s: stamps %.0f ms old on arrival, 99 %% within %.0f ms", topic, 1000*middle,
		1000*late)
	switch {
	case empty > n/2:
		return wrong(name, fmt.Sprintf("topic %s: no stamps", topic),
			"have the driver stamp its samples; else their delay is not known")
	case same > n/2:
		return wrong(name, fmt.Sprintf("topic %s: stamps do not go on", topic), "have the driver stamp each sample")
	case back > n/100:
		return wrong(name, fmt.Sprintf("topic %s: %d of %d stamps are before the one before", topic, back, n),
			"is the topic published twice?")
	case math.Abs(middle) > other:
		return wrong(name, fmt.Sprintf("topic %s: stamps are %.0f s off this machine's clock", topic, middle),
			"synchronise the clocks (chrony, PTP), or have the driver stamp in this machine's time")
	case middle < -0.005:
		return wrong(name, fmt.Sprintf("topic %s: stamps are %.0f ms ahead of this machine's clock", topic,
			-1000*middle), "synchronise the clocks (chrony, PTP)")
	case middle > mostDelay || late > longGap:
		return wrong(name, detail, fmt.Sprintf("expected less than %.0f ms: look at the network, or synchronise the "+
			"clocks", 1000*mostDelay))
	}
	return fine(name, detail)
}

// Velocity judges the velocities that come with samples by how positions change.
func Velocity(topic string, s []Sample) []Finding {
	const apart, slow = 0.1, 0.1 // s, m/s
	var said, made []so3.Vec3
	var q []so3.Quat
	j := 0
	for i := range s {
		for j+1 < len(s) && s[j].Stamp-s[i].Stamp < apart {
			j++
		}
		dt := s[j].Stamp - s[i].Stamp
		if m := s[(i+j)/2]; m.Moves && dt > apart/2 && dt < 2*apart {
			said, made, q = append(said, m.V), append(made, s[j].P.Sub(s[i].P).Scale(1/dt)), append(q, m.Q.Normalize())
		}
	}
	moving := 0.0
	for _, v := range made {
		moving = math.Max(moving, v.Norm())
	}
	if len(said) < 20 || moving < slow {
		return nil
	}
	return []Finding{judgeVelocity(topic, said, made, q)}
}

// judgeVelocity compares under each reading of the velocity's frame.
func judgeVelocity(topic string, said, made []so3.Vec3, q []so3.Quat) Finding {
	const name = "velocity"
	readings := []struct {
		detail, remedy string
		of             func(v so3.Vec3, q so3.Quat) so3.Vec3
	}{
		{"", "", func(v so3.Vec3, _ so3.Quat) so3.Vec3 { return v }},
		{"the twist is in the world", "set twist_frame to world",
			func(v so3.Vec3, q so3.Quat) so3.Vec3 { return q.Conj().Rotate(v) }},
		{"the twist is in the body", "set twist_frame to body",
			func(v so3.Vec3, q so3.Quat) so3.Vec3 { return q.Rotate(v) }},
		{"it has the opposite sign", "have the driver change it",
			func(v so3.Vec3, _ so3.Quat) so3.Vec3 { return v.Scale(-1) }},
	}
	best, fit, scale := 0, math.Inf(-1), 0.0
	for i, r := range readings {
		var vv, vm, mm float64
		for k := range said {
			v := r.of(said[k], q[k])
			vv, vm, mm = vv+v.Dot(v), vm+v.Dot(made[k]), mm+made[k].Dot(made[k])
		}
		if c := vm / math.Sqrt(vv*mm); c > fit+0.02 {
			best, fit, scale = i, c, vm/mm
		}
	}
	detail := fmt.Sprintf("topic %s: %.2f times the change of positions, correlation %.2f", topic, scale, fit)
	switch {
	case !(fit > 0.7):
		return wrong(name, detail, "it is not the velocity of these positions: use state_source pose")
	case best != 0:
		return wrong(name, readings[best].detail+": "+detail, readings[best].remedy)
	case scale > 1.5 || scale < 0.67:
		return wrong(name, detail, "positions and velocities are in different units: have the driver send metres "+
			"and m/s")
	}
	return fine(name, detail)
}
