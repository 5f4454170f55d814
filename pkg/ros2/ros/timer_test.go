package ros_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

func TestWallTimer(t *testing.T) {
	for threads := range 3 {
		n := alone(t)
		calls := make(chan ros.Time, 10)
		made := 0
		var timer *ros.Timer
		timer = must(n.NewWallTimer(time.Millisecond, func() {
			calls <- timer.Expected()
			if made++; made == 5 {
				timer.Cancel()
			}
		}))(t)
		spin(t, n.Context(), threads)
		first := receive(t, calls)
		var last ros.Time
		for range 4 {
			last = receive(t, calls)
		}
		periods := last.Sub(first) / time.Millisecond
		if last.Sub(first)%time.Millisecond != 0 || uint64(periods) < 4 || uint64(periods) > 4+timer.Missed() {
			t.Errorf("threads %d: calls at %v and %v with %d missed: not on the grid", threads, first, last,
				timer.Missed())
		}
	}
	if _, err := alone(t).NewTimer(0, func() {}); err == nil {
		t.Error("a timer without a period")
	}
	n := alone(t)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.NewWallTimer(time.Hour, func() {}); !errors.Is(err, rmw.ErrClosed) {
		t.Errorf("a timer of a closed node: error %v", err)
	}
	if ros.Timers(n.Context()) != 0 {
		t.Error("a timer of a closed node goes on")
	}
}

// simulation is a node on simulated time with a publisher of /clock.
type simulation struct {
	n     *ros.Node
	clock *ros.Publisher[rosgraphmsgs.Clock]
}

func simulate(t *testing.T) simulation {
	t.Helper()
	d := inproc.NewDomain()
	world := newNode(t, join(t, d, nil), "world")
	n := newNode(t, join(t, d, nil, "--ros-args", "-p", "use_sim_time:=true"), "sim")
	s := simulation{n, must(ros.NewPublisher[rosgraphmsgs.Clock](world, "/clock", ros.DefaultQoS()))(t)}
	if err := ros.WaitForMatched(within(t), s.clock, 1); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s simulation) tick(t *testing.T, at ros.Time) {
	t.Helper()
	if err := s.clock.Publish(&rosgraphmsgs.Clock{Clock: at.Msg()}); err != nil {
		t.Fatal(err)
	}
}

const ms = ros.Time(time.Millisecond)

// Timers on simulated time fire only when /clock passes their grid. The same clock gives the
// same calls in the same order.
func TestSimulatedTime(t *testing.T) {
	for run := range 3 {
		s := simulate(t)
		if now := s.n.Now(); now != 0 || !s.n.Clock().Simulated() {
			t.Fatalf("%v before the first /clock", now)
		}
		var log []string
		var jumps []ros.Jump
		remove := s.n.Clock().OnJump(func(j ros.Jump) { jumps = append(jumps, j) })
		defer remove()
		entry := func(name string) func() {
			return func() { log = append(log, fmt.Sprintf("%s@%d", name, s.n.Now()/ms)) }
		}
		slow := must(s.n.NewTimer(30*time.Millisecond, entry("slow")))(t)
		fast := must(s.n.NewTimer(10*time.Millisecond, entry("fast")))(t)
		spin(t, s.n.Context(), 0)
		to := func(at ros.Time) {
			s.tick(t, at*ms)
			for s.n.Now() != at*ms {
				runtime.Gosched()
			}
			done := make(chan struct{}) // what is posted now runs after the timers
			s.n.Post(func() { close(done) })
			receive(t, done)
		}
		for _, at := range []ros.Time{5000, 5005, 5010, 5020, 5030, 5031, 5095} {
			to(at)
		}
		to(100) // played again
		to(109)
		to(111)
		want := []string{"fast@5010", "fast@5020", "slow@5030", "fast@5030", "fast@5095", "slow@5095", "fast@111"}
		if !slices.Equal(log, want) {
			t.Errorf("run %d:\n got %v\nwant %v", run, log, want)
		}
		if fast.Missed() != 5 || slow.Missed() != 1 {
			t.Errorf("missed %d and %d, want 5 and 1", fast.Missed(), slow.Missed())
		}
		wantJumps := []ros.Jump{{ros.FirstTime, 0, 5000 * ms}, {ros.Backward, 5095 * ms, 100 * ms}}
		if !slices.Equal(jumps, wantJumps) {
			t.Errorf("jumps %v, want %v", jumps, wantJumps)
		}
	}
}
