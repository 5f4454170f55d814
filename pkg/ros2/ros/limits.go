package ros

import "time"

// RequestLimits bound what a service does for its callers. Zero values are those of every service.
type RequestLimits struct {
	// Bytes is the most that a request's encoding takes; 0: 16 MiB.
	Bytes int
	// Waiting is the most requests that wait for the service's group; 0: 1000. Those beyond it are dropped and logged.
	Waiting int
	// Late, if not nil, refuses a request by its age: queued since the node took it from the middleware, and sent since
	// its client wrote it, by the clocks of both; sent is 0 where the middleware does not know.
	Late func(queued, sent time.Duration) error
}

// Limits of services that have none of their own.
const (
	maxRequest = 16 << 20
	maxWaiting = 1000
)

// WithRequestLimits has a service refuse requests beyond limits: in place of its handler, refuse fills in the response.
// It panics in NewService where Resp is not the service's.
func WithRequestLimits[Resp any](l RequestLimits, refuse func(*Resp, error)) Option {
	return func(o *entityOptions) { o.limits, o.refuse = &l, refuse }
}

// limitsOf reads the limits of a service's options.
func limitsOf[Resp any](options []Option) (l RequestLimits, refuse func(*Resp, error)) {
	var o entityOptions
	for _, set := range options {
		set(&o)
	}
	if o.limits != nil {
		l, refuse = *o.limits, o.refuse.(func(*Resp, error))
	}
	if l.Bytes == 0 {
		l.Bytes = maxRequest
	}
	if l.Waiting == 0 {
		l.Waiting = maxWaiting
	}
	return l, refuse
}

// late judges a request by when it was taken, and sent in ns since 1970.
func (l *RequestLimits) late(taken time.Time, sent int64) error {
	if l.Late == nil {
		return nil
	}
	age := time.Duration(0)
	if sent != 0 {
		age = time.Since(time.Unix(0, sent))
	}
	return l.Late(time.Since(taken), age)
}

// drop counts a request that gets no answer.
func (s *Service[Req, Resp]) drop(why error) {
	count := s.dropped.Add(1)
	s.warnings.log(&s.n.log, "service '%s': request dropped: %v (%d so far)", s.name, why, count)
}
