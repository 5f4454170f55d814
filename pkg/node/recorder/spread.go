package recorder

import (
	"time"

	"vnd/pkg/bridge"
)

// spread is what the source of states says that its velocity errs by. It is of the thread that takes messages.
type spread struct {
	decoder   *bridge.PoseDecoder // nil before the first message, and where the type has no poses
	unread    bool
	deviation float64   // of the worst axis, m/s; 0: not known
	at        time.Time // when it came
	warned    bool
}

// take reads a message of the topic that the parameter covariance_topic names.
func (s *spread) take(l *listener, data []byte) {
	if s.decoder == nil && !s.unread {
		var err error
		if s.decoder, err = bridge.NewPoseDecoder(l.full, l.typeName, bridge.PoseOptions{}); err != nil {
			s.unread = true
			l.warn("parameter covariance_topic: " + err.Error())
		}
	}
	if s.unread {
		return
	}
	p, found, err := s.decoder.Decode(data)
	if err != nil || !found {
		return
	}
	v := p.Spread.Velocity
	s.deviation, s.at = max(v.X, v.Y, v.Z), time.Now()
	if p.Spread.Fault.Known() && !s.warned {
		s.warned = true
		l.warn("topic " + l.full + ": " + p.Spread.Fault.String() + ", for rows of full confidence")
	}
}

// now is the deviation said of late, m/s; 0 where there is none.
func (s *spread) now() float64 {
	const old = time.Second / 2
	if time.Since(s.at) > old {
		return 0
	}
	return s.deviation
}
