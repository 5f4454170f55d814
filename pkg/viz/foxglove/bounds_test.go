package foxglove

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// What a client still asks for when its session ends is not subscribed to.
func TestNoSubscriptionAfterTheEnd(t *testing.T) {
	b := newBus()
	s := newSession(b, false)
	s.look()
	if err := s.subscribe(1, 1); err != nil {
		t.Fatal(err)
	}
	s.close()
	if err := s.subscribe(2, 1); err == nil || b.take("/tf") != nil || b.closed != 1 {
		t.Errorf("%v, %d closed", err, b.closed)
	}
}

// A session ends where a client does not take what is never dropped.
func TestClientThatTakesNoAnswers(t *testing.T) {
	s := newSession(newBus(), false)
	answer := frame{data: make([]byte, mostWaiting/4)}
	for range 4 {
		s.out.put(answer, false)
	}
	s.out.take()
	s.out.put(answer, false)
	if s.out.lags() {
		t.Fatalf("%d bytes are too many", s.out.owed)
	}
	for range 3 {
		s.out.put(answer, false)
	}
	if err := s.send(t.Context(), nil, nil); !errors.Is(err, errLags) || s.out.bytes > mostWaiting {
		t.Errorf("%v, %d bytes", err, s.out.bytes)
	}
}

// A queue that is always full keeps nobody from a look at the graph, nor from the count of what was dropped.
func TestLooksUnderLoad(t *testing.T) {
	s := newSession(newBus(), false)
	half := frame{data: make([]byte, mostWaiting/2)}
	for range 5 {
		s.out.put(half, true)
	}
	due := make(chan time.Time, 1)
	due <- time.Time{}
	if err := s.send(t.Context(), nil, due); err != nil || len(s.out.frames) != 2 {
		t.Fatalf("%v, %d frames", err, len(s.out.frames))
	}
	s.look()
	var all strings.Builder
	for f, ok := s.out.take(); ok; f, ok = s.out.take() {
		if len(f.data) < len(half.data) {
			all.Write(f.data)
		}
	}
	if got := all.String(); !strings.Contains(got, "3 messages were dropped") || !strings.Contains(got, "/tf") {
		t.Error(got)
	}
}
