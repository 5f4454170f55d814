package motors

import (
	"math"

	"vnd/pkg/core/so3"
)

// Turning is how a vehicle turns where no gyroscope tells: what its motors should lead to, corrected by attitudes,
// which come late and noisy. Times are ns of one clock. It allocates nothing.
type Turning struct {
	rate  so3.Vec3 // body rates at at, rad/s
	turn  so3.Vec3 // angular acceleration then, rad/s²
	asked so3.Vec3 // that the motors go to
	at    int64    // 0: never
	past  [8]turned
	next  int // place of the eldest
}

// turned is a rate of before.
type turned struct {
	at   int64
	rate so3.Vec3
}

const (
	motorLag    = 0.03 // s, of rotors
	longestTurn = 0.15 // s without a tick or an attitude, beyond which nothing is known
	trust       = 0.3  // in the rate of two attitudes
)

// At returns body rates at now, rad/s.
func (m *Turning) At(now int64) so3.Vec3 {
	dt := float64(now-m.at) / 1e9
	switch {
	case dt == 0:
		return m.rate
	case !(dt > 0 && dt < longestTurn):
		*m = Turning{at: now, asked: m.asked}
	default:
		left := math.Exp(-dt / motorLag) // of a deviation from what is asked for
		mean := m.asked.Add(m.turn.Sub(m.asked).Scale(motorLag / dt * (1 - left)))
		m.turn = m.asked.Add(m.turn.Sub(m.asked).Scale(left))
		m.rate, m.at = m.rate.Add(mean.Scale(dt)), now
	}
	m.keep()
	return m.rate
}

func (m *Turning) keep() {
	m.past[m.next] = turned{m.at, m.rate}
	m.next = (m.next + 1) % len(m.past)
}

// Ask says to which angular acceleration, rad/s², the motors go from the last time on.
func (m *Turning) Ask(turn so3.Vec3) { m.asked = turn }

// Measured takes body rates of a gyroscope for those of the last time.
func (m *Turning) Measured(w so3.Vec3) {
	m.rate = w
	m.past[(m.next+len(m.past)-1)%len(m.past)].rate = w
}

// Attitudes takes the mean body rates between two attitudes, rad/s, whose middle is at at. What differs from the rates
// of then is corrected in all since.
func (m *Turning) Attitudes(w so3.Vec3, at int64) {
	then, ok := m.before(at)
	if !ok {
		return
	}
	e := w.Sub(then).Scale(trust)
	m.rate = m.rate.Add(e)
	for i := range m.past {
		m.past[i].rate = m.past[i].rate.Add(e)
	}
}

// before is the rate at a time since the eldest that is kept; on a straight line between two.
func (m *Turning) before(at int64) (so3.Vec3, bool) {
	newest := turned{m.at, m.rate}
	if at >= newest.at {
		return newest.rate, m.at != 0 && float64(at-newest.at)/1e9 < longestTurn
	}
	for i := range m.past {
		x := m.past[(m.next+2*len(m.past)-1-i)%len(m.past)]
		if x.at == 0 || x.at > newest.at {
			continue
		}
		if x.at <= at {
			if newest.at == x.at {
				return x.rate, true
			}
			share := float64(at-x.at) / float64(newest.at-x.at)
			return x.rate.Add(newest.rate.Sub(x.rate).Scale(share)), true
		}
		newest = x
	}
	return so3.Vec3{}, false
}
