package diagnostics

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/rostest"
)

const patience = 30 * time.Second

func newNode(t *testing.T, d *inproc.Domain, name string) *ros.Node {
	t.Helper()
	c, err := ros.NewContext(ros.Options{
		Args:    []string{"--ros-args", "--disable-external-lib-logs", "-r", "__ns:=/quad"},
		Backend: ros.InProcess(d), Getenv: func(string) string { return "" }, Stderr: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.NewNode(name)
	if err != nil {
		t.Fatal(err)
	}
	rostest.Spin(t, c, 1)
	return n
}

// collect sends each status to a channel.
func collect(t *testing.T, n *ros.Node) <-chan diagnosticmsgs.DiagnosticStatus {
	t.Helper()
	ch := make(chan diagnosticmsgs.DiagnosticStatus, 1000)
	sub, err := ros.NewSubscription(n, "/diagnostics", ros.DefaultQoS(),
		func(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
			for _, s := range m.Status {
				s.Values = slices.Clone(s.Values)
				ch <- s
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if err := ros.WaitForMatched(ctx, sub, 1); err != nil {
		t.Fatal(err)
	}
	return ch
}

// await waits for a status of the task with the message.
func await(t *testing.T, ch <-chan diagnosticmsgs.DiagnosticStatus, name,
	message string) diagnosticmsgs.DiagnosticStatus {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case s := <-ch:
			if s.Name == name && s.Message == message {
				return s
			}
		case <-deadline:
			t.Fatalf("no %s: %s", name, message)
		}
	}
}

func TestUpdater(t *testing.T) {
	d := inproc.NewDomain()
	n := newNode(t, d, "fit")
	u, err := New(n, "cf21")
	if err != nil {
		t.Fatal(err)
	}
	ch := collect(t, newNode(t, d, "rqt"))
	u.Add("battery", func(s *Status) {
		s.Summary(Warn, "low")
		s.Add("voltage", 3.4)
	})
	u.Add("mute", func(*Status) {})
	if s := await(t, ch, "fit: battery", "Node starting up"); s.Level != 0 || s.HardwareID != "cf21" {
		t.Errorf("%+v", s)
	}
	if err := n.Parameters().SetAtomically(params.Parameter{Name: "diagnostic_updater.period",
		Value: 0.01}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s := await(t, ch, "fit: battery", "low")
		if s.Level != 1 || !slices.Equal(s.Values, []diagnosticmsgs.KeyValue{{Key: "voltage", Value: "3.4"}}) {
			t.Errorf("%+v", s)
		}
	}
	if s := await(t, ch, "fit: mute", "No message was set"); s.Level != 2 {
		t.Errorf("%+v", s)
	}
	await(t, ch, "fit: QoS", "All QoS compatible")
	if _, err := ros.NewRawPublisher(n, "x", new(stdmsgs.String).TypeName(), ros.SensorDataQoS()); err != nil {
		t.Fatal(err)
	}
	_, err = ros.NewSubscription(n, "x", ros.DefaultQoS(), func(*stdmsgs.String, ros.Info) {})
	if err != nil {
		t.Fatal(err)
	}
	s := await(t, ch, "fit: QoS", "publisher of /quad/x: incompatible RELIABILITY; subscription of /quad/x: "+
		"incompatible RELIABILITY")
	if s.Level != 2 || len(s.Values) != 2 || s.Values[0].Key != "/quad/x" {
		t.Errorf("%+v", s)
	}
	u.Broadcast(Stale, "over")
	if s := await(t, ch, "fit: mute", "over"); s.Level != 3 {
		t.Errorf("%+v", s)
	}
	if err := n.Parameters().SetAtomically(params.Parameter{Name: "diagnostic_updater.period",
		Value: 0.0}); err == nil {
		t.Error("a period of 0")
	}
}

func TestMerge(t *testing.T) {
	for want, merges := range map[string][]Status{
		"0 fine":     {{level: OK, message: "fine"}, {level: OK, message: "also fine"}},
		"2 bad":      {{level: OK, message: "fine"}, {level: Error, message: "bad"}},
		"2 bad; so":  {{level: Error, message: "bad"}, {level: Warn, message: "so"}},
		"1 so":       {{level: Warn, message: "so"}, {level: OK, message: "fine"}},
		"2 so; bad!": {{level: Warn, message: "so"}, {level: Error, message: "bad!"}},
	} {
		t.Run(want, func(t *testing.T) {
			var s Status
			for _, m := range merges {
				s.Merge(m.level, "%s", m.message)
			}
			if got := fmt.Sprintf("%d %s", s.level, s.message); got != want {
				t.Errorf("%v: %s, want %s", merges, got, want)
			}
		})
	}
}

func values(s *Status) map[string]string {
	m := map[string]string{}
	for _, v := range s.values {
		m[v.Key] = v.Value
	}
	return m
}

func TestFrequency(t *testing.T) {
	f := NewFrequency(50, 50)
	f.window[0].at = 0
	now := ros.Time(0)
	for i, c := range []struct {
		events int
		want   string
	}{
		{0, "2 No events recorded."}, {50, "1 Frequency too low."}, {110, "0 Desired frequency met"},
		{60, "0 Desired frequency met"}, {120, "1 Frequency too high."},
	} {
		for range c.events {
			f.Tick()
		}
		now = now.Add(time.Second)
		var s Status
		f.run(&s, now)
		if got := fmt.Sprintf("%d %s", s.level, s.message); got != c.want {
			t.Errorf("run %d: %s, want %s", i, got, c.want)
		}
		if v := values(&s); v["Events since startup"] != fmt.Sprint(f.Count()) ||
			v["Target frequency (Hz)"] != "50.000000" {
			t.Errorf("run %d: %v", i, v)
		}
	}
	var s Status
	free := NewFrequency(0, math.Inf(1))
	free.Tick()
	free.run(&s, steady.Now()+1)
	for key := range values(&s) {
		if strings.Contains(key, "acceptable") {
			t.Errorf("no bounds, but %s", key)
		}
	}
}

func TestLatency(t *testing.T) {
	l := NewLatency(-time.Millisecond, 20*time.Millisecond)
	check := func(want string) map[string]string {
		t.Helper()
		var s Status
		l.Run(&s)
		if got := fmt.Sprintf("%d %s", s.level, s.message); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		return values(&s)
	}
	check("1 No data since last update.")
	for i := range 100 {
		l.Observe(time.Duration(i+1) * 100 * time.Microsecond)
	}
	v := check("0 Timestamps are reasonable.")
	var p50, p99 float64
	fmt.Sscan(v["p50 (ms)"], &p50)
	fmt.Sscan(v["p99 (ms)"], &p99)
	if p50 < 5 || p50 > 5*(1+1.0/octaveBuckets) || p99 < 9.9 || p99 > 10 || v["Latest timestamp delay:"] != "0.010000" {
		t.Error(v)
	}
	l.ObserveStamp(1000, 1000+ros.Time(time.Second))
	l.ObserveStamp(ros.Time(time.Second), 0)
	l.ObserveStamp(0, 5)
	v = check("2 Timestamps too far in future seen.; Timestamps too far in past seen.; Zero timestamp seen.")
	if v["Late diagnostic update count:"] != "1" || v["Early diagnostic update count:"] != "1" ||
		v["Zero seen diagnostic update count:"] != "1" {
		t.Error(v)
	}
	check("1 No data since last update.")
}

// A quantile is at most 1/octaveBuckets above that of the sorted durations.
func TestQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Int64(), 1, 100).Draw(t, "durations")
		q := rapid.Float64Range(0.001, 1).Draw(t, "q")
		var h histogram
		h.reset()
		for _, d := range all {
			h.add(time.Duration(d))
		}
		slices.Sort(all)
		s := h.take()
		if int64(s.min) != all[0] || int64(s.max) != all[len(all)-1] || s.total != uint64(len(all)) {
			t.Fatalf("%d of %d … %d", s.total, s.min, s.max)
		}
		want := max(all[int(math.Ceil(q*float64(len(all))))-1], min(0, all[len(all)-1]))
		got := int64(s.quantile(q))
		if got < want || float64(got-want) > float64(max(want, 0))/octaveBuckets {
			t.Fatalf("quantile %v is %d, want %d", q, got, want)
		}
	})
}

func TestNoAllocation(t *testing.T) {
	f, l := NewFrequency(1, 2), NewLatency(0, 1)
	if n := testing.AllocsPerRun(100, func() { f.Tick(); l.Observe(time.Millisecond) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
