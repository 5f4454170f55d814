package action_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	actionmsgs "vnd/msgs/action_msgs"
	example "vnd/msgs/example_interfaces"
	uniqueidentifiermsgs "vnd/msgs/unique_identifier_msgs"
	"vnd/pkg/ros2/dds/fastdds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/action"
	"vnd/pkg/ros2/ros/rostest"
)

type (
	goal   = action.Goal[example.FibonacciGoal, example.FibonacciResult, example.FibonacciFeedback]
	client = action.Client[example.FibonacciGoal, example.FibonacciResult, example.FibonacciFeedback]
	calls  = action.Callbacks[example.FibonacciGoal, example.FibonacciResult, example.FibonacciFeedback]
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// within bounds what must happen.
func within(t testing.TB) context.Context { return withinFor(t, time.Minute) }

func withinFor(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// node is a node of a process of its own, which is spun.
func node(t testing.TB, o ros.Options, name string) *ros.Node {
	t.Helper()
	o.Args, o.Stdout, o.Stderr = []string{"--ros-args", "--disable-external-lib-logs"}, io.Discard, io.Discard
	c, err := ros.NewContext(o)
	if err != nil && strings.Contains(err.Error(), "built without") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := must(c.NewNode(name))(t)
	rostest.Spin(t, c, 1)
	return n
}

// wires are the ways between two processes.
func wires() map[string]func(testing.TB) ros.Options {
	env := func(implementation string) func(string) string {
		pairs := map[string]string{"ROS_LOCALHOST_ONLY": "1", "ROS_DISTRO": "humble",
			"RMW_IMPLEMENTATION": implementation, "ROS_DOMAIN_ID": fmt.Sprint(101 + os.Getpid()%90)}
		return func(key string) string { return pairs[key] }
	}
	return map[string]func(testing.TB) ros.Options{
		"in process":  nil,
		"Cyclone DDS": func(testing.TB) ros.Options { return ros.Options{Getenv: env(rmw.Cyclone)} },
		"Fast DDS": func(t testing.TB) ros.Options {
			if err := fastdds.Installed(); err != nil {
				t.Skip(err)
			}
			return ros.Options{Getenv: env(rmw.FastDDS)}
		},
	}
}

// pair is a server and a client in two processes.
func pair(t testing.TB, way func(testing.TB) ros.Options, call calls, o action.Options) (*ros.Node, *client) {
	t.Helper()
	options := ros.Options{Backend: ros.InProcess(inproc.NewDomain()), Getenv: func(string) string { return "" }}
	if way != nil {
		options = way(t)
	}
	a, b := node(t, options, "server"), node(t, options, "client")
	must(action.NewServer(a, "fibo", call, o))(t)
	c := must(action.NewClient[example.FibonacciGoal, example.FibonacciResult, example.FibonacciFeedback](b, "fibo"))(t)
	if err := c.WaitForServer(within(t)); err != nil {
		t.Fatal(err)
	}
	return a, c
}

func sequence(n int32) []int32 {
	s := []int32{0, 1}
	for int32(len(s)) <= n {
		s = append(s, s[len(s)-1]+s[len(s)-2])
	}
	return s[:n+1]
}

// fibonacci reports each number, and then the result.
func fibonacci(t testing.TB) calls {
	return calls{
		Accept: func(g *example.FibonacciGoal) error {
			if g.Order < 1 {
				return fmt.Errorf("order %d: expected at least 1", g.Order)
			}
			return nil
		},
		Start: func(g *goal) {
			for i := int32(1); i <= g.Request.Order; i++ {
				if err := g.Feedback(&example.FibonacciFeedback{Sequence: sequence(i)}); err != nil {
					t.Error(err)
				}
			}
			if err := g.Succeed(&example.FibonacciResult{Sequence: sequence(g.Request.Order)}); err != nil {
				t.Error(err)
			}
		},
	}
}

// untilReceived reports the first number again and again: a server may know the client's reader later than the client
// knows the server.
func untilReceived(t testing.TB, g *goal, first <-chan struct{}) {
	for ctx := within(t); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		select {
		case <-first:
			return
		default:
		}
		if err := g.Feedback(&example.FibonacciFeedback{Sequence: sequence(1)}); err != nil {
			t.Error(err)
		}
	}
}

// A goal with feedback and result, and one that is refused, on every wire.
func TestGoal(t *testing.T) {
	for name, way := range wires() {
		t.Run(name, func(t *testing.T) {
			call, first := fibonacci(t), make(chan struct{})
			pursue := call.Start
			call.Start = func(g *goal) { go func() { untilReceived(t, g, first); pursue(g) }() }
			_, c := pair(t, way, call, action.Options{})
			var mu sync.Mutex
			var came []int
			p := must(c.Send(within(t), &example.FibonacciGoal{Order: 4}, func(f *example.FibonacciFeedback) {
				mu.Lock()
				defer mu.Unlock()
				if came = append(came, len(f.Sequence)); len(came) == 1 {
					close(first)
				}
			}))(t)
			ctx := within(t)
			for done := false; !done && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) { // on another topic
				mu.Lock()
				done = slices.Contains(came, 5)
				mu.Unlock()
			}
			status, r, err := p.Result(within(t))
			if err != nil || status != action.Succeeded || !slices.Equal(r.Sequence, []int32{0, 1, 1, 2, 3}) {
				t.Errorf("%v %+v %v", status, r, err)
			}
			if !slices.Equal(slices.Compact(came), []int{2, 3, 4, 5}) {
				t.Errorf("came %v", came)
			}
			if _, err := c.Send(within(t), &example.FibonacciGoal{}, nil); !errors.Is(err, action.ErrRejected) {
				t.Errorf("%v, expected %v", err, action.ErrRejected)
			}
			if err := p.Cancel(within(t)); err == nil || !strings.Contains(err.Error(), "has ended") {
				t.Errorf("%v of a goal that has ended", err)
			}
		})
	}
}

// Results are kept for a while, and not for ever.
func TestResultsAreKeptForAWhile(t *testing.T) {
	_, c := pair(t, nil, fibonacci(t), action.Options{KeepResults: 200 * time.Millisecond})
	p := must(c.Send(within(t), &example.FibonacciGoal{Order: 1}, nil))(t)
	if status, _, err := p.Result(within(t)); err != nil || status != action.Succeeded {
		t.Errorf("%v %v", status, err)
	}
	for status := action.Succeeded; status != action.Unknown; time.Sleep(20 * time.Millisecond) {
		var err error
		if status, _, err = p.Result(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Cancel(within(t)); err == nil || !strings.Contains(err.Error(), "not known") {
		t.Errorf("%v of a goal that was forgotten", err)
	}
}

// A request to cancel means one goal, those up to a stamp, or all; what has ended or is being canceled is not meant.
func TestWhatACancelMeans(t *testing.T) {
	const none, rejected, unknown, ended = actionmsgs.CancelGoalResponseErrorNone,
		actionmsgs.CancelGoalResponseErrorRejected, actionmsgs.CancelGoalResponseErrorUnknownGoalID,
		actionmsgs.CancelGoalResponseErrorGoalTerminated
	var mu sync.Mutex
	stubborn, goals := false, map[action.ID]*goal{}
	n, c := pair(t, nil, calls{
		Start:  func(g *goal) { mu.Lock(); goals[g.ID] = g; mu.Unlock() },
		Cancel: func(*goal) bool { mu.Lock(); defer mu.Unlock(); return !stubborn },
	}, action.Options{})
	cancel := must(ros.NewClient[actionmsgs.CancelGoalRequest, actionmsgs.CancelGoalResponse](n,
		"fibo/_action/cancel_goal"))(t)
	ask := func(id action.ID, until ros.Time, code int8, meant ...action.ID) {
		t.Helper()
		info := actionmsgs.GoalInfo{GoalID: uniqueidentifiermsgs.UUID{UUID: id}, Stamp: until.Msg()}
		r := must(cancel.Call(within(t), &actionmsgs.CancelGoalRequest{GoalInfo: info}))(t)
		var got []action.ID
		for _, g := range r.GoalsCanceling {
			got = append(got, g.GoalID.UUID)
		}
		if r.ReturnCode != code || !slices.Equal(got, meant) {
			t.Errorf("code %d, goals %v; expected %d, %v", r.ReturnCode, got, code, meant)
		}
	}
	all := action.ID{}
	ask(all, 0, none)
	ask(action.NewID(), 0, unknown)
	var ids []action.ID
	var stamps []ros.Time
	for range 5 {
		p := must(c.Send(within(t), &example.FibonacciGoal{}, nil))(t)
		ids, stamps = append(ids, p.ID), append(stamps, p.Stamp)
		time.Sleep(2 * time.Millisecond) // stamps differ
	}
	stubborn = true
	ask(ids[0], 0, rejected)
	stubborn = false
	ask(ids[0], 0, none, ids[0])
	ask(ids[0], 0, ended)
	ask(ids[3], stamps[1], none, ids[1], ids[3])
	ask(all, stamps[2], none, ids[2])
	ask(all, 0, none, ids[4])
	mu.Lock()
	defer mu.Unlock()
	for _, id := range ids {
		if g := goals[id]; g.Status() != action.Canceling {
			t.Errorf("%v is %v", id, g.Status())
		}
		if err := goals[id].Cancel(&example.FibonacciResult{}); err != nil {
			t.Error(err)
		}
	}
}

// Many goals at once, some of which are canceled: each ends once, as its server said, and nobody waits for ever.
func TestManyGoalsWithCancels(t *testing.T) {
	for name, way := range wires() {
		t.Run(name, func(t *testing.T) {
			goals, workers := goalsOf(t, way != nil), 8
			var ended, next atomic.Int64
			run := func(g *goal) {
				if err := end(g); err != nil {
					t.Error(err)
				}
				ended.Add(1)
			}
			_, c := pair(t, way, calls{Start: func(g *goal) { go run(g) }}, action.Options{KeepResults: time.Second})
			ctx := withinFor(t, time.Minute+time.Duration(goals)*10*time.Millisecond)
			begun := time.Now()
			var group sync.WaitGroup
			for range workers {
				group.Go(func() { pursueAll(ctx, t, c, &next, int64(goals)) })
			}
			group.Wait()
			t.Logf("%d goals, a third of them canceled, in %v", goals, time.Since(begun).Round(time.Millisecond))
			// The client may know an end before the server's callback has returned.
			for ended.Load() != int64(goals) && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			if n := int(ended.Load()); n != goals {
				t.Errorf("%d of %d goals ended", n, goals)
			}
		})
	}
}

// goalsOf is how many goals TestManyGoalsWithCancels takes: VND_GOALS where it is set (make goals), fewer on a wire.
func goalsOf(t *testing.T, wire bool) int {
	t.Helper()
	switch set := os.Getenv("VND_GOALS"); {
	case set != "":
		return must(strconv.Atoi(set))(t)
	case wire || testing.Short():
		return 200
	}
	return 2000
}

// end ends a goal of TestManyGoalsWithCancels: canceled, aborted and succeeded in turns.
func end(g *goal) error {
	r := &example.FibonacciResult{Sequence: []int32{g.Request.Order}}
	switch g.Request.Order % 3 {
	case 0:
		<-g.Canceling()
		return g.Cancel(r)
	case 1:
		return g.Abort(r)
	}
	return g.Succeed(r)
}

// pursueAll has the goals up to a number pursued that nobody has taken yet.
func pursueAll(ctx context.Context, t *testing.T, c *client, next *atomic.Int64, goals int64) {
	for i := next.Add(1) - 1; i < goals; i = next.Add(1) - 1 {
		if err := pursue(ctx, c, int32(i)); err != nil {
			t.Errorf("goal %d: %v", i, err)
		}
	}
}

// pursue has one goal of TestManyGoalsWithCancels pursued to its end.
func pursue(ctx context.Context, c *client, i int32) error {
	p, err := c.Send(ctx, &example.FibonacciGoal{Order: i}, nil)
	if err != nil {
		return err
	}
	if i%3 == 0 {
		if err := p.Cancel(ctx); err != nil {
			return err
		}
	}
	want := []action.Status{action.Canceled, action.Aborted, action.Succeeded}[i%3]
	status, r, err := p.Result(ctx)
	if err != nil || status != want || !slices.Equal(r.Sequence, []int32{i}) {
		return fmt.Errorf("%v %+v %w, expected %v", status, r, err, want)
	}
	return nil
}
