package ros_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/rostest"
)

// soakVariable holds the duration of TestSoak: VND_SOAK=1h.
const soakVariable = "VND_SOAK"

// census counts the resources of a process.
type census struct {
	Goroutines, Files int
	Resident, Go      float64 // MiB; the rest is Cyclone DDS' and the program's text
}

func takeCensus() (census, error) {
	debug.FreeOSMemory()
	c := census{Goroutines: runtime.NumGoroutine()}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return c, err
	}
	c.Files = len(files)
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return c, err
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	c.Resident = mebibytes(pages * os.Getpagesize())
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.Go = mebibytes(int(m.Sys - m.HeapReleased))
	return c, err
}

// mebibytes rounds to a hundredth.
func mebibytes(bytes int) float64 { return math.Round(float64(bytes)/(1<<20)*100) / 100 }

// soaker is robot with services that report its census and answer.
func soaker() {
	ros.MainContext(ros.Options{Args: os.Args[1:]}, func(_ context.Context, c *ros.Context) error {
		n, err := c.NewNode("soaker")
		if err != nil {
			return err
		}
		if _, err := params.Bind[tuning](n.Parameters(), nil); err != nil {
			return err
		}
		echo, err := ros.NewPublisher[geometrymsgs.PoseStamped](n, "pong", ros.DefaultQoS())
		if err != nil {
			return err
		}
		if _, err := ros.NewSubscription(n, "ping", ros.DefaultQoS(), func(m *geometrymsgs.PoseStamped, _ ros.Info) {
			if err := echo.Publish(m); err != nil {
				n.Log().Error().Err(err).Send()
			}
		}); err != nil {
			return err
		}
		_, err = ros.NewService(n, "census", func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
			c, err1 := takeCensus()
			text, err2 := json.Marshal(c)
			r.Success, r.Message = err1 == nil && err2 == nil, string(text)
		})
		return err
	})
}

// soak is the traffic between this process and the soaker.
type soak struct {
	t      *testing.T
	n      *ros.Node
	census *ros.Client[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse]
	set    *ros.Client[rclinterfaces.SetParametersRequest, rclinterfaces.SetParametersResponse]

	echoes, events, sets, ends, guests atomic.Int64
}

// TestSoak runs for the duration of its variable: topics both ways, services, parameters and
// their events. Endpoints come and go every ten seconds, and a process every minute; every
// other one is killed. The numbers of goroutines and files and the memory must stay. Cyclone
// DDS itself keeps some 300 bytes of each endpoint of a process, under rclpy as well.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv(soakVariable))
	if err != nil || length < 2*time.Minute {
		t.Skipf("%s is %q, no time of two minutes or more: make soak sets it", soakVariable, os.Getenv(soakVariable))
	}
	ctx, stop := context.WithTimeout(context.Background(), length)
	defer stop()
	p, stderr := startUntil(t, context.Background(), "soaker")
	s := newSoak(t)
	go s.parameters(ctx)
	go s.endpoints(ctx)
	go s.processes(ctx)
	rows := s.watch(ctx, length/60)
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
	for i, name := range []string{"here", "there"} {
		flat(t, name, rows[i])
	}
	for name, count := range map[string]int64{"echoes": s.echoes.Load(), "parameters set": s.sets.Load(),
		"events":                   s.events.Load(),
		"endpoints made and ended": s.ends.Load(), "processes come and gone": s.guests.Load()} {
		t.Logf("%s: %d", name, count)
		if count == 0 {
			t.Errorf("no %s", name)
		}
	}
}

func newSoak(t *testing.T) *soak {
	s := &soak{t: t, n: newNode(t, overTheWire(t), "watcher")}
	s.census = must(ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](s.n, "census"))(t)
	s.set = must(ros.NewClient[rclinterfaces.SetParametersRequest, rclinterfaces.SetParametersResponse](s.n,
		"soaker/set_parameters"))(t)
	ping := must(ros.NewPublisher[geometrymsgs.PoseStamped](s.n, "ping", ros.DefaultQoS()))(t)
	must(ros.NewSubscription(s.n, "pong", ros.DefaultQoS(),
		func(*geometrymsgs.PoseStamped, ros.Info) { s.echoes.Add(1) }))(t)
	must(ros.NewSubscription(s.n, "/parameter_events", rmw.ParameterEventsQoS(),
		func(*rclinterfaces.ParameterEvent, ros.Info) { s.events.Add(1) }))(t)
	m := &geometrymsgs.PoseStamped{}
	must(s.n.NewWallTimer(10*time.Millisecond, func() {
		if err := ping.Publish(m); err != nil {
			t.Error(err)
		}
	}))(t)
	for _, err := range []error{s.census.WaitForService(within(t)), s.set.WaitForService(within(t)),
		ros.WaitForMatched(within(t), ping, 1)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	spin(t, s.n.Context(), 0)
	return s
}

// every calls f until ctx is done.
func (s *soak) every(ctx context.Context, period time.Duration, f func(i int) error) {
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(period):
		}
		if err := f(i); err != nil && ctx.Err() == nil {
			s.t.Error(err)
			return
		}
	}
}

func (s *soak) parameters(ctx context.Context) {
	s.every(ctx, 100*time.Millisecond, func(i int) error {
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		gain := rclinterfaces.ParameterValue{Type: 3, DoubleValue: float64(i % 10)}
		r, err := s.set.Call(ctx, &rclinterfaces.SetParametersRequest{
			Parameters: []rclinterfaces.Parameter{{Name: "gain", Value: gain}}})
		if err == nil && (len(r.Results) != 1 || !r.Results[0].Successful) {
			return fmt.Errorf("set: %+v", r)
		}
		s.sets.Add(1)
		return err
	})
}

func (s *soak) endpoints(ctx context.Context) {
	s.every(ctx, 10*time.Second, func(int) error {
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		pub, err := ros.NewPublisher[geometrymsgs.PoseStamped](s.n, "ping", ros.DefaultQoS())
		if err != nil {
			return err
		}
		client, err := ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](s.n, "census")
		if err != nil {
			return err
		}
		for _, err := range []error{ros.WaitForMatched(ctx, pub, 1), client.WaitForService(ctx), pub.Close(),
			client.Close()} {
			if err != nil {
				return err
			}
		}
		s.ends.Add(1)
		return nil
	})
}

func (s *soak) processes(ctx context.Context) {
	s.every(ctx, time.Minute, func(i int) error {
		p, _ := startUntil(s.t, context.Background(), "robot", "--ros-args", "-r", fmt.Sprintf("__node:=guest%d", i))
		waiting, stop := context.WithTimeout(ctx, patience)
		defer stop()
		err := s.n.Context().WaitForGraph(waiting, func(g rmw.Graph) bool {
			return slices.ContainsFunc(g.Nodes(), func(n rmw.NodeName) bool { return n.Name == fmt.Sprint("guest", i) })
		})
		how := []os.Signal{os.Interrupt, syscall.SIGKILL}[i%2]
		if err := p.Process.Signal(how); err != nil {
			return err
		}
		if ended := p.Wait(); ended != nil && how == os.Interrupt {
			return ended
		}
		s.guests.Add(1)
		return err
	})
}

// watch takes a census of both processes at intervals.
func (s *soak) watch(ctx context.Context, period time.Duration) (rows [2][]census) {
	begin := time.Now()
	s.every(ctx, period, func(int) error {
		here, err := takeCensus()
		if err != nil {
			return err
		}
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		r, err := s.census.Call(ctx, &stdsrvs.TriggerRequest{})
		if err != nil {
			return err
		}
		var there census
		if err := json.Unmarshal([]byte(r.Message), &there); err != nil {
			return err
		}
		rows[0], rows[1] = append(rows[0], here), append(rows[1], there)
		s.t.Logf("%5.1f min: here %+v, there %+v, %d echoes", time.Since(begin).Minutes(), here, there, s.echoes.Load())
		return nil
	})
	return rows
}

// flat compares the last third with the third before; the first is for warming up. It takes
// the minima, which a process holds at rest.
func flat(t *testing.T, name string, rows []census) {
	t.Helper()
	if len(rows) < 30 {
		t.Fatalf("%s: %d rows, expected 30 or more", name, len(rows))
	}
	before, after := lowest(rows[len(rows)/3:2*len(rows)/3]), lowest(rows[2*len(rows)/3:])
	t.Logf("%s: at rest %+v in the second third, %+v in the last", name, before, after)
	if after.Goroutines > before.Goroutines || after.Files > before.Files || after.Resident > 1.02*before.Resident+1 {
		t.Errorf("%s: from %+v to %+v", name, before, after)
	}
}

func lowest(rows []census) census {
	least := rows[0]
	for _, r := range rows {
		least = census{min(least.Goroutines, r.Goroutines), min(least.Files, r.Files), min(least.Resident, r.Resident),
			min(least.Go, r.Go)}
	}
	return least
}

// startUntil starts a program that is killed when ctx is done.
func startUntil(t testing.TB, ctx context.Context, name string, args ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	p := exec.CommandContext(ctx, os.Args[0], args...)
	p.Env = append(append(os.Environ(), rostest.Environ()...), programVariable+"="+name, "ROS_LOG_DIR="+os.TempDir())
	stderr := new(strings.Builder)
	p.Stderr = stderr
	if err := p.Start(); err != nil {
		t.Error(err)
	}
	return p, stderr
}
