package guardlink

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
)

// Hello is what a controller says of itself, and what it is answered.
type Hello struct {
	Controller string            `json:"controller,omitempty"` // full name of the node
	Settings   map[string]string `json:"settings,omitempty"`   // that must be the guard's, by parameter
	Refused    string            `json:"refused,omitempty"`    // by the guard; empty: it is welcome
}

// Address is that of the guard of a robot: an abstract socket, which leaves no file behind.
func Address(domain, guard string) string { return "@vnd/" + domain + guard }

// Link is one end. One thread waits and receives, anybody sends, and nobody waits for the other end to read. It
// allocates nothing where no other end, bundle, task or frame is a new one.
type Link struct {
	wake     int         // eventfd
	woken    atomic.Bool // and not read yet
	newcomer atomic.Pointer[net.UnixConn]
	taken    atomic.Bool // there is another end
	polled   [2]unix.PollFd
	in       []byte
	number   [8]byte
	request  control.Request
	sample   Sample
	decision control.Decision
	conn     *net.UnixConn // changed by the thread, under mu; nil: none
	fd       int           // of conn

	mu     sync.Mutex // of what sends
	out    []byte
	closed bool // wake is another file by now
}

func newLink() (*Link, error) {
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	return &Link{wake: wake, in: make([]byte, maxMessage), out: make([]byte, 0, maxMessage)}, nil
}

// Wake has Wait return.
func (l *Link) Wake() {
	if l.woken.Swap(true) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		one := [8]byte{1}
		_, _ = unix.Write(l.wake, one[:])
	}
}

// Wait returns when there is something to receive, or after Wake.
func (l *Link) Wait() {
	l.polled[0] = unix.PollFd{Fd: int32(l.wake), Events: unix.POLLIN}
	n := 1
	if l.conn != nil {
		l.polled[1] = unix.PollFd{Fd: int32(l.fd), Events: unix.POLLIN}
		n = 2
	}
	if _, err := unix.Poll(l.polled[:n], -1); err != nil {
		return // a signal
	}
	if l.polled[0].Revents != 0 {
		_, _ = unix.Read(l.wake, l.number[:])
		l.woken.Store(false) // last: one who wakes meanwhile writes nothing, and is heard after this
	}
}

// Events are what the thread does with what comes.
type Events struct {
	Joined func() // the other end is there
	Left   func() // it has ended

	// At the guard:
	Begin   func()       // the policy flies from now on
	End     func()       // and does no more
	Bundle  func(string) // whose commands count from now on
	Request func(*control.Request)

	// At the controller:
	Sample   func(*Sample)
	Decision func(*control.Decision)
	Home     func(so3.Vec3) // where the policy is to hold, for the battery is low
	Ended    func(error)    // the answer to End
}

// Receive hands out all that has come.
func (l *Link) Receive(e *Events) {
	if c := l.newcomer.Swap(nil); c != nil && l.adopt(c) == nil {
		e.Joined()
	}
	for l.conn != nil {
		n, err := unix.Read(l.fd, l.in)
		switch {
		case err == unix.EAGAIN:
			return
		case err == unix.EINTR:
		case err != nil || n <= 0 || l.hand(e, l.in[:n]) != nil:
			l.drop()
			e.Left()
		}
	}
}

// adopt begins to receive from another end.
func (l *Link) adopt(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = c
	return raw.Control(func(fd uintptr) { l.fd = int(fd) })
}

// hand calls what a message is for.
func (l *Link) hand(e *Events, data []byte) error {
	r, err := reader(data[1:]), error(nil)
	switch k := kind(data[0]); {
	case k == begin && e.Begin != nil:
		e.Begin()
	case k == end && e.End != nil:
		e.End()
	case k == end && e.Ended != nil:
		if len(r) > 0 {
			err = errors.New(string(r))
		}
		e.Ended(err)
		return nil
	case k == bundle && e.Bundle != nil:
		e.Bundle(string(r))
	case k == request && e.Request != nil:
		if err = readRequest(r, &l.request); err == nil {
			e.Request(&l.request)
		}
	case k == sample && e.Sample != nil:
		if err = readSample(r, &l.sample); err == nil {
			e.Sample(&l.sample)
		}
	case k == decision && e.Decision != nil:
		if err = readDecision(r, &l.decision); err == nil {
			e.Decision(&l.decision)
		}
	case k == home && e.Home != nil && len(r) == 3*8:
		e.Home(r.vec())
	default:
		err = errMalformed
	}
	return err
}

// drop ends the connection.
func (l *Link) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.conn.Close()
	l.conn = nil
	l.taken.Store(false)
}

// ErrAlone says that there is no other end.
var ErrAlone = errors.New("nobody is there")

// send writes the message in out.
func (l *Link) send() error {
	if l.conn == nil {
		return ErrAlone
	}
	_, err := unix.Write(l.fd, l.out)
	return err
}

// Ask sends a request.
func (l *Link) Ask(q *control.Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = appendRequest(l.out[:0], q)
	return l.send()
}

// Decided sends a decision.
func (l *Link) Decided(d *control.Decision) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = appendDecision(l.out[:0], d)
	return l.send()
}

// Measured sends a sample.
func (l *Link) Measured(s *Sample) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = appendSample(l.out[:0], s)
	return l.send()
}

// SetBundle says whose commands count, before the first of them.
func (l *Link) SetBundle(id string) error { return l.say(bundle, id) }

// Begin says that the policy flies from now on.
func (l *Link) Begin() error { return l.say(begin, "") }

// End says that it does no more, or answers that.
func (l *Link) End(err error) error {
	if err == nil {
		return l.say(end, "")
	}
	return l.say(end, err.Error())
}

// Home says where the policy is to hold, m in the world, for the battery is low.
func (l *Link) Home(p so3.Vec3) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := append(writer(l.out[:0]), byte(home))
	w.vec(p)
	l.out = w
	return l.send()
}

func (l *Link) say(k kind, text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = append(append(l.out[:0], byte(k)), text[:min(len(text), maxMessage-1)]...)
	return l.send()
}

// close ends the link, when its thread has ended.
func (l *Link) close() error {
	if c := l.newcomer.Swap(nil); c != nil {
		_ = c.Close()
	}
	if l.conn != nil {
		l.drop()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return unix.Close(l.wake)
}
