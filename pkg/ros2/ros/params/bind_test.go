package params

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/param"
)

type limits struct {
	Low  float64 `param:"low" default:"-1" doc:"lowest"`
	High float64 `param:"high" default:"1" doc:"highest"`
}

type config struct {
	Rate   int       `param:"rate" default:"50" min:"10" max:"500" step:"10" unit:"Hz" doc:"ticks per second"`
	Source string    `param:"source" default:"pose" enum:"pose,odometry" doc:"of the state"`
	Robot  string    `param:"robot" default:"" read_only:"true" doc:"name"`
	Gains  []float64 `param:"gains" default:"1,2" min:"0" doc:"gains"`
	IDs    []int     `param:"ids" default:"1" doc:"others"`
	Mask   []byte    `param:"mask" default:"" doc:"bits"`
	Limits limits    `param:"limits" doc:"limits"`
}

func ordered(c *config) error {
	if c.Limits.Low > c.Limits.High {
		return fmt.Errorf("limits.low %v is above limits.high %v", c.Limits.Low, c.Limits.High)
	}
	return nil
}

func TestBind(t *testing.T) {
	overrides := map[string]param.Assignment{
		"rate": {Value: int64(100)}, "robot": {Value: "cf"}, "gains": {Value: param.EmptyList{}},
		"mask": {Value: []int64{7}}}
	var events int
	s := New(Options{Overrides: overrides, Event: func(*rclinterfaces.ParameterEvent) { events++ }})
	b, err := Bind(s, ordered)
	if err != nil {
		t.Fatal(err)
	}
	want := config{100, "pose", "cf", []float64{}, []int{1}, []byte{7}, limits{-1, 1}}
	first := b.Load()
	if diff := cmp.Diff(&want, first); diff != "" || events != 1 {
		t.Error(diff, events)
	}
	if err := s.SetAtomically(Parameter{"limits.low", 2.}, Parameter{"limits.high", 3.},
		Parameter{"ids", []int{4, 5}}); err != nil {
		t.Fatal(err)
	}
	changed := want
	changed.Limits, changed.IDs = limits{2, 3}, []int{4, 5}
	if diff := cmp.Diff(&changed, b.Load()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&want, first); diff != "" {
		t.Errorf("a struct in a reader's hands changed: %s", diff)
	}
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"limits.low", 4., "limits.low 4 is above limits.high 3"},
		{"rate", 55, "Parameter {rate} doesn't comply with integer range. 55 is not within 10 … 500 in steps of 10."},
		{"source", "gps", "gps is not allowed, expected one of pose, odometry"},
		{"robot", "x", "parameter 'robot' cannot be set because it is read-only"},
		{"gains", []float64{1, -1}, "Parameter {gains} doesn't comply with floating point range. -1 is not within 0 " +
			"… 1.7976931348623157e+308."},
		{"limits.high", 4, "Wrong parameter type, parameter {limits.high} is of type {double}, setting it to " +
			"{integer} is not allowed. Write 4.0: ROS tells integers and doubles apart."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := s.SetAtomically(Parameter{c.name, c.value}); err == nil || err.Error() != c.want {
				t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
			}
		})
	}
	if diff := cmp.Diff(&changed, b.Load()); diff != "" {
		t.Error(diff)
	}
	if n := testing.AllocsPerRun(100, func() { first = b.Load() }); n != 0 {
		t.Errorf("Load allocates %v times", n)
	}
}

func TestBindDescribesFields(t *testing.T) {
	s := New(Options{})
	if _, err := Bind(s, ordered); err != nil {
		t.Fatal(err)
	}
	var r rclinterfaces.DescribeParametersResponse
	s.DescribeParameters(&rclinterfaces.DescribeParametersRequest{Names: []string{"rate", "source", "robot"}}, &r)
	wantDescriptors := []rclinterfaces.ParameterDescriptor{
		{Name: "rate", Type: 2, Description: "ticks per second (Hz)",
			IntegerRange: []rclinterfaces.IntegerRange{{FromValue: 10, ToValue: 500, Step: 10}}},
		{Name: "source", Type: 4, Description: "of the state", AdditionalConstraints: "one of pose, odometry"},
		{Name: "robot", Type: 4, Description: "name", ReadOnly: true},
	}
	if diff := cmp.Diff(wantDescriptors, r.Descriptors); diff != "" {
		t.Error(diff)
	}
}

// TestBindRefused: a refused Bind declares nothing.
func TestBindRefused(t *testing.T) {
	for _, c := range []struct {
		name, want string
		override   param.Assignment
	}{
		{"rate",
			"f:7: parameter 'rate' could not be set: Wrong parameter type, parameter {rate} is of type {integer}, " +
				"setting it to {double} is not allowed.", param.Assignment{Value: 1., Where: "f:7"}},
		{"source", "f:7: parameter 'source' could not be set: gps is not allowed, expected one of pose, odometry",
			param.Assignment{Value: "gps", Where: "f:7"}},
		{"limits.low", "limits.low 5 is above limits.high 1", param.Assignment{Value: 5.}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(Options{Overrides: map[string]param.Assignment{c.name: c.override}})
			if b, err := Bind(s, ordered); err == nil || err.Error() != c.want || b != nil || len(s.Names()) != 0 {
				t.Errorf("%v, %v\nwant %s", err, s.Names(), c.want)
			}
		})
	}
	s := New(Options{})
	declare(t, s, Parameter{"ids", 1})
	if _, err := Bind[config](s, nil); !errors.Is(err, ErrAlreadyDeclared) || strings.Join(s.Names(), " ") != "ids" {
		t.Error(err, s.Names())
	}
	if _, err := Bind[struct{ A int }](s, nil); err == nil {
		t.Error("a struct without tags passed")
	}
}

// TestWhole: readers see an atomic set as a whole, and observers get all changes in order.
func TestWhole(t *testing.T) {
	s := New(Options{})
	b, err := Bind(s, ordered)
	if err != nil {
		t.Fatal(err)
	}
	var last float64
	received := 0
	s.AfterSet(func(ps []Parameter) { last = ps[0].Value.(float64); received++ })
	const each = 200
	stop := make(chan struct{})
	var writers, readers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := range each {
				x := float64(1000*w + i)
				if err := s.SetAtomically(Parameter{"limits.low", x}, Parameter{"limits.high", x}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if c := b.Load(); c.Limits.Low != c.Limits.High && c.Limits.Low != -1 {
				t.Errorf("half a set: %v", c.Limits)
				return
			}
		}
	})
	writers.Wait()
	close(stop)
	readers.Wait()
	if received != 3*each || last != b.Load().Limits.Low {
		t.Errorf("heard of %d changes, the last %v; the store has %v", received, last, b.Load().Limits.Low)
	}
}

// TestModel runs random sets against a map with the same rules, and rebuilds the state from
// the events.
func TestModel(t *testing.T) {
	values := []any{true, int64(1), int64(2), 1.5, 2.5, "x", []byte{1}, []bool{true}, []int64{1}, []float64{1},
		[]string{"a"}, nil}
	names := []string{"static.d", "static.i", "dyn.a", "dyn.b", "ro", "none"}
	rapid.Check(t, func(t *rapid.T) {
		replayed := map[string]any{}
		replay := func(e *rclinterfaces.ParameterEvent) {
			for _, p := range append(e.NewParameters, e.ChangedParameters...) {
				replayed[p.Name], _ = FromMessage(&p.Value)
			}
			for _, p := range e.DeletedParameters {
				delete(replayed, p.Name)
			}
		}
		s := New(Options{Event: replay})
		model := map[string]any{"static.d": 0.5, "static.i": int64(0), "dyn.a": "", "dyn.b": true, "ro": int64(5)}
		for name, v := range model {
			if _, err := s.Declare(name, v, Descriptor{DynamicTyping: strings.HasPrefix(name, "dyn"),
				ReadOnly: name == "ro"}); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 20).Draw(t, "sets") {
			var batch []Parameter
			good := true
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, rapid.ID[string]).Draw(t,
				"names") {
				v := rapid.SampledFrom(values).Draw(t, "value")
				batch = append(batch, Parameter{name, v})
				old, known := model[name]
				switch {
				case !known, name == "ro", strings.HasPrefix(name, "static") && TypeOf(v) != TypeOf(old):
					good = false
				}
			}
			err := s.SetAtomically(batch...)
			if (err == nil) != good {
				t.Fatalf("%v: %v, expected success: %t", batch, err, good)
			}
			for _, p := range batch {
				if good && p.Value == nil {
					delete(model, p.Name)
				} else if good {
					model[p.Name] = p.Value
				}
			}
			for _, name := range names {
				want, known := model[name]
				got, err := s.Get(name)
				if known != (err == nil) || !cmp.Equal(got, want) {
					t.Fatalf("%s is %v, %v, want %v", name, got, err, want)
				}
			}
			if diff := cmp.Diff(model, replayed); diff != "" {
				t.Fatalf("events tell otherwise: %s", diff)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	bound, err := Bind[config](New(Options{}), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		bound.Load()
	}
}

func TestBindReadsFormerNamesWithAWarning(t *testing.T) {
	type renamed struct {
		Tilt float64 `param:"max_tilt" was:"lean" default:"1" min:"0" max:"2" doc:"tilt"`
	}
	var warnings []string
	s := New(Options{Overrides: map[string]param.Assignment{"lean": {Name: "lean", Value: 1.5, Where: "f:3"}},
		Warn: func(line string) { warnings = append(warnings, line) }})
	b, err := Bind[renamed](s, nil)
	const want = `f:3: parameter "lean" is now "max_tilt": the old name will not be read by the next version`
	if err != nil || b.Load().Tilt != 1.5 || len(s.Unused()) != 0 || strings.Join(warnings, ";") != want {
		t.Fatal(err, b.Load(), s.Unused(), warnings)
	}
	if err := s.SetAtomically(Parameter{"lean", 1.25}); err != nil || b.Load().Tilt != 1.25 || len(warnings) != 2 {
		t.Error(err, b.Load(), warnings)
	}
	var r rclinterfaces.GetParametersResponse
	s.GetParameters(&rclinterfaces.GetParametersRequest{Names: []string{"lean"}}, &r)
	if len(r.Values) != 1 || r.Values[0].DoubleValue != 1.25 || len(warnings) != 3 ||
		slices.Contains(s.Names(), "lean") {
		t.Error("a former name was asked for:", r.Values, warnings, s.Names())
	}
	s = New(Options{Overrides: map[string]param.Assignment{"lean": {Name: "lean", Value: 3., Where: "f:3"}}})
	if _, err := Bind[renamed](s, nil); err == nil || !strings.HasPrefix(err.Error(), "f:3: ") {
		t.Errorf("a refusal does not say where: %v", err)
	}
	warnings = nil
	s = New(Options{Overrides: map[string]param.Assignment{"lean": {Name: "lean", Value: 1.5, Where: "f:3"},
		"max_tilt": {Name: "max_tilt", Value: 1.75}}, Warn: func(line string) { warnings = append(warnings, line) }})
	const both = `f:3: parameter "lean" is now "max_tilt", which is set, too: the value of the old name is not used`
	if b, err = Bind[renamed](s, nil); err != nil || b.Load().Tilt != 1.75 || strings.Join(warnings, ";") != both {
		t.Error(err, b.Load(), warnings)
	}
}
