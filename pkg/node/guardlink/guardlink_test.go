package guardlink

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
)

// inbox is what one end received.
type inbox struct {
	said     []string
	requests []control.Request
	answers  []control.Decision
	samples  []Sample
}

func (h *inbox) atGuard() *Events {
	return &Events{Joined: h.say("joined"), Left: h.say("left"), Begin: h.say("begin"), End: h.say("end"),
		Bundle:  func(id string) { h.said = append(h.said, "bundle "+id) },
		Request: func(q *control.Request) { h.requests = append(h.requests, *q) }}
}

func (h *inbox) atController() *Events {
	return &Events{Joined: h.say("joined"), Left: h.say("left"),
		Sample:   func(s *Sample) { h.samples = append(h.samples, *s) },
		Decision: func(d *control.Decision) { h.answers = append(h.answers, *d) },
		Home:     func(p so3.Vec3) { h.said = append(h.said, fmt.Sprint("home ", p)) },
		Ended:    func(err error) { h.said = append(h.said, fmt.Sprint("ended ", err)) }}
}

func (h *inbox) say(word string) func() { return func() { h.said = append(h.said, word) } }

// until receives until holds.
func until(t *testing.T, l *Link, e *Events, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); {
		if time.Now().After(end) {
			t.Fatal("it did not come")
		}
		time.AfterFunc(10*time.Millisecond, l.Wake)
		l.Wait()
		l.Receive(e)
	}
}

func address(t *testing.T) string { return fmt.Sprintf("@vnd_test_%d_%s", os.Getpid(), t.Name()) }

// pairOf is both ends, joined.
func pairOf(t *testing.T) (s *Server, c *Client, atGuard, atController *inbox) {
	t.Helper()
	var err error
	if s, err = Listen(address(t), func(*Hello) error { return nil }, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if c, err = Dial(address(t), Hello{Controller: "/quad/policy_controller"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	atGuard, atController = &inbox{}, &inbox{}
	until(t, s.Link, atGuard.atGuard(), func() bool { return len(atGuard.said) > 0 })
	until(t, c.Link, atController.atController(), func() bool { return len(atController.said) > 0 })
	return s, c, atGuard, atController
}

var (
	aRequest = control.Request{Seq: 7, Stamp: 1e18, FrameAge: 0.03,
		Command: quad.Command{Thrust: 9.81, Rates: so3.Vec3{X: 1, Y: -2, Z: 3}},
		Target:  so3.Vec3{X: .1, Y: .2, Z: 1}, Ended: true, Bundle: "4df0b239bf16", Task: "hover"}
	aDecision = control.Decision{Seq: 7, Now: 1e18 + 1, Sent: quad.Command{Thrust: 3, Rates: so3.Vec3{Z: 1}},
		Stage: guard.Blind, Cause: guard.Stale, Offboard: true, Wind: so3.Vec3{Y: 1}}
	aSample = Sample{Sample: control.Sample{Stamp: 1e18, HasVelocity: true, State: quad.State{P: so3.Vec3{Z: 1},
		V: so3.Vec3{X: 1}, Q: so3.Quat{W: .5, X: .5, Y: -.5, Z: .5}}}, Sent: 5, Frame: "map"}
)

func TestMessagesArriveAsTheyWere(t *testing.T) {
	s, c, atGuard, atController := pairOf(t)
	if err := errors.Join(c.SetBundle("4df0b239bf16"), c.Begin(), c.Ask(&aRequest), c.End(nil)); err != nil {
		t.Fatal(err)
	}
	until(t, s.Link, atGuard.atGuard(), func() bool { return len(atGuard.said) == 4 })
	want := []string{"joined", "bundle 4df0b239bf16", "begin", "end"}
	if d := cmp.Diff(want, atGuard.said) + cmp.Diff([]control.Request{aRequest}, atGuard.requests); d != "" {
		t.Error(d)
	}
	if err := errors.Join(s.Measured(&aSample), s.Decided(&aDecision), s.Home(so3.Vec3{Z: 1}),
		s.End(errors.New("it flies"))); err != nil {
		t.Fatal(err)
	}
	until(t, c.Link, atController.atController(), func() bool { return len(atController.said) == 3 })
	want = []string{"joined", "home {0 0 1}", "ended it flies"}
	if d := cmp.Diff(want, atController.said) + cmp.Diff([]control.Decision{aDecision}, atController.answers) +
		cmp.Diff([]Sample{aSample}, atController.samples); d != "" {
		t.Error(d)
	}
	if c.Trouble() != "" {
		t.Error(c.Trouble())
	}
}

func TestLinkAllocatesNothing(t *testing.T) {
	s, c, _, _ := pairOf(t)
	asked, decided := 0, 0
	atGuard := &Events{Request: func(*control.Request) { asked++ }}
	atController := &Events{Decision: func(*control.Decision) { decided++ }, Sample: func(*Sample) {}}
	q, d, m := aRequest, aDecision, aSample
	turn := func() {
		_ = s.Measured(&m)
		_ = c.Ask(&q)
		s.Wait()
		s.Receive(atGuard)
		_ = s.Decided(&d)
		c.Wait()
		c.Receive(atController)
	}
	if n := testing.AllocsPerRun(100, turn); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if asked != 101 || decided != 101 {
		t.Errorf("%d requests, %d decisions", asked, decided)
	}
}

// An end that reads nothing, as a stopped process does, makes the other one wait for nothing.
func TestStoppedEndHoldsNobodyUp(t *testing.T) {
	s, c, _, _ := pairOf(t)
	begun := time.Now()
	failed := 0
	for range 20_000 {
		if c.Ask(&aRequest) != nil {
			failed++
		}
		if s.Decided(&aDecision) != nil {
			failed++
		}
	}
	if took := time.Since(begun); took > 5*time.Second || failed == 0 {
		t.Errorf("%v, %d refused", took, failed)
	}
}

func TestControllersThatAreRefused(t *testing.T) {
	reports := make(chan string, 10)
	s, err := Listen(address(t), func(h *Hello) error {
		if h.Controller == "wrong" {
			return errors.New("parameter rate is 100")
		}
		return nil
	}, func(line string) { reports <- line })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := Listen(address(t), nil, nil); err == nil ||
		!strings.Contains(err.Error(), "does another flight_guard") {
		t.Errorf("a second guard: %v", err)
	}
	h := &inbox{}
	for _, x := range []struct{ name, want string }{
		{"wrong", "parameter rate is 100"}, {"good", ""}, {"second", "another controller is there"}} {
		t.Run(x.name, func(t *testing.T) {
			c, err := Dial(s.listener.Addr().String(), Hello{Controller: x.name})
			if err != nil {
				t.Fatal(err)
			}
			if x.name != "good" {
				defer c.Close()
			}
			for end := time.Now().Add(10 * time.Second); !strings.Contains(c.Trouble(), x.want) ||
				x.want == "" && c.Trouble() != ""; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("it says %q, expected %q", c.Trouble(), x.want)
				}
			}
			s.Receive(h.atGuard())
		})
	}
	if d := cmp.Diff([]string{"joined"}, h.said); d != "" {
		t.Error(d)
	}
}

// What is no message ends the connection, and the next controller is welcome.
func TestMalformedMessagesEndTheConnection(t *testing.T) {
	s, err := Listen(address(t), func(*Hello) error { return nil }, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	whole := appendRequest(nil, &aRequest)
	for name, data := range map[string][]byte{
		"unknown kind": {99}, "a guard's message": appendDecision(nil, &aDecision), "cut": whole[:40],
		"cut within a name": whole[:len(whole)-1], "too long": append(appendRequest(nil, &aRequest), 0)} {
		t.Run(name, func(t *testing.T) {
			h := &inbox{}
			conn, err := net.Dial("unixpacket", s.listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := writeHello(conn.(*net.UnixConn), &Hello{}); err != nil {
				t.Fatal(err)
			}
			until(t, s.Link, h.atGuard(), func() bool { return len(h.said) == 1 })
			if _, err := conn.Write(data); err != nil {
				t.Fatal(err)
			}
			until(t, s.Link, h.atGuard(), func() bool { return len(h.said) == 2 })
			if h.said[1] != "left" || len(h.requests) != 0 {
				t.Errorf("%q, %d requests", h.said, len(h.requests))
			}
		})
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(appendRequest(nil, &aRequest)))
	f.Add([]byte(appendDecision(nil, &aDecision)))
	f.Add([]byte(appendSample(nil, &aSample)))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		h := inbox{}
		for _, e := range []*Events{h.atGuard(), h.atController()} {
			_ = new(Link).hand(e, data)
		}
	})
}

// TestNoWakeIsLost has two threads wake a third over and over: it sees all that was asked before a Wake.
func TestNoWakeIsLost(t *testing.T) {
	l, err := newLink()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.close() }()
	const each = 200_000
	var asked, seen atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for seen.Load() < 2*each {
			l.Wait()
			seen.Store(asked.Load())
		}
	}()
	for range 2 {
		go func() {
			for range each {
				asked.Add(1)
				l.Wake()
			}
		}()
	}
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Errorf("of %d that asked and woke the thread it saw %d", 2*each, seen.Load())
		l.woken.Store(false)
		l.Wake()
		<-done
	}
}
