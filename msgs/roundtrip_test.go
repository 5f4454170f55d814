package msgs_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vnd/msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/msggen"
)

// The folders of generated code, as msgs.go's go:generate lines have them.
var (
	tree     = &msggen.Tree{FS: os.DirFS("."), Root: ".", Import: "vnd/msgs", Own: "vnd"}
	humble   = &msggen.Tree{FS: os.DirFS("humble"), Root: ".", Import: "vnd/msgs/humble", Base: tree}
	lyrical  = &msggen.Tree{FS: os.DirFS("lyrical"), Root: ".", Import: "vnd/msgs/lyrical", Base: tree}
	internal = &msggen.Tree{FS: os.DirFS("internal"), Root: ".", Import: "vnd/msgs/internal", Base: tree}
)

func definitions(t testing.TB, tree *msggen.Tree) *msggen.Set {
	t.Helper()
	set, err := tree.Set()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// filler fills messages with random values within their bounds.
type filler struct {
	*rand.Rand
	set *msggen.Set
}

func (f filler) message(v reflect.Value, name string) {
	for _, field := range f.set.Message(name).Fields {
		f.field(v.FieldByName(msggen.GoField(field.Name)), field.Type)
	}
}

func (f filler) field(v reflect.Value, t msggen.Type) {
	switch t.Array {
	case msggen.Single:
		f.elem(v, t)
		return
	case msggen.Bounded:
		v.Set(reflect.MakeSlice(v.Type(), f.IntN(min(t.Size, 4)+1), 4))
	case msggen.Unbounded:
		v.Set(reflect.MakeSlice(v.Type(), f.IntN(4), 4))
	}
	for i := range v.Len() {
		f.elem(v.Index(i), t)
	}
}

func (f filler) elem(v reflect.Value, t msggen.Type) {
	switch t.Base {
	case msggen.Nested:
		f.message(v, t.Ref)
	case msggen.String, msggen.WString:
		n := f.IntN(9)
		if t.StringBound > 0 {
			n = min(n, t.StringBound)
		}
		v.SetString(strings.Repeat("x", n))
	case msggen.Bool:
		v.SetBool(f.IntN(2) == 1)
	case msggen.Float32, msggen.Float64:
		v.SetFloat(float64(float32(f.NormFloat64())))
	case msggen.Int8, msggen.Int16, msggen.Int32, msggen.Int64:
		v.SetInt(int64(f.Uint64()) >> (64 - v.Type().Bits()))
	default:
		v.SetUint(f.Uint64() >> (64 - v.Type().Bits()))
	}
}

// In both byte orders, also into a used message. Data that are cut off, except in the padding, are an
// error.
func TestEveryTypeIsDecodedAsEncoded(t *testing.T) {
	set := definitions(t, tree)
	testSet, humbleSet := definitions(t, internal), definitions(t, humble)
	names := slices.Concat(msgs.Names(), slices.Collect(maps.Keys(creators)))
	slices.Sort(names)
	for _, name := range names {
		f := filler{rand.New(rand.NewPCG(1, uint64(len(name)))), set}
		if strings.HasPrefix(name, "test_msgs/") {
			f.set = testSet
		} else if creators[name] != nil {
			f.set = humbleSet
		}
		into := create(t, name)
		for range 4 {
			want := create(t, name)
			f.message(reflect.ValueOf(want).Elem(), name)
			for _, order := range []cdr.Order{cdr.LittleEndian, cdr.BigEndian} {
				roundTrip(t, want, into, order, f.IntN)
			}
		}
	}
}

func roundTrip(t *testing.T, want, into cdr.Message, order cdr.Order, intN func(int) int) {
	t.Helper()
	data, err := cdr.Append(nil, order, want)
	if err != nil {
		t.Fatal(err)
	}
	if err := cdr.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	if !same(reflect.ValueOf(want).Elem(), reflect.ValueOf(into).Elem()) {
		t.Fatalf("%s\n got %+v\nwant %+v", want.TypeName(), into, want)
	}
	again, err := cdr.Append(nil, order, into)
	if err != nil || !bytes.Equal(again, data) {
		t.Fatalf("%s: %v\n got % x\nwant % x", want.TypeName(), err, again, data)
	}
	cut := intN(len(data))
	err = cdr.Unmarshal(data[:cut], into)
	if err == nil || !strings.HasPrefix(err.Error(), want.TypeName()+": ") {
		t.Fatalf("%s: %d of %d bytes: %v", want.TypeName(), cut, len(data), err)
	}
	err = cdr.Unmarshal(append(data, make([]byte, 1000)...), into) // of a few, Lyrical's messages may be too long
	if err == nil || !strings.Contains(err.Error(), "the sender's definition differs") {
		t.Fatalf("%s: a thousand bytes too many: %v", want.TypeName(), err)
	}
}

// same is reflect.DeepEqual, but for empty slices that may be nil.
func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	default:
		return a.Interface() == b.Interface()
	}
}

// hot are messages as flights have them.
func hot(t testing.TB) []cdr.Message {
	set := definitions(t, tree)
	f := filler{rand.New(rand.NewPCG(1, 2)), set}
	var out []cdr.Message
	for _, name := range []string{
		"vnd/msg/Step", "vnd/msg/ThrustRates", "vnd/msg/Latent", "geometry_msgs/msg/PoseStamped",
		"nav_msgs/msg/Odometry",
		"nav_msgs/msg/Path", "sensor_msgs/msg/Imu", "tf2_msgs/msg/TFMessage", "mavros_msgs/msg/AttitudeTarget",
		"px4_msgs/msg/VehicleOdometry", "diagnostic_msgs/msg/DiagnosticArray", "visualization_msgs/msg/MarkerArray",
	} {
		m := create(t, name)
		f.message(reflect.ValueOf(m).Elem(), name)
		if step, ok := m.(*msgs.Step); ok {
			step.Reference, step.Latent = make([]float64, 70), make([]float32, 16)
			step.BundleID, step.Task, step.Header.FrameID = "quad-track-0042", "track", "world"
		}
		out = append(out, m)
	}
	return out
}

func TestNoAllocationOnReuse(t *testing.T) {
	for _, m := range hot(t) {
		for _, order := range []cdr.Order{cdr.LittleEndian, cdr.BigEndian} {
			var e cdr.Encoder
			e.Reset(nil, order)
			m.MarshalCDR(&e)
			buf, err := e.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(20, func() {
				e.Reset(buf[:0], order)
				m.MarshalCDR(&e)
			}); n != 0 {
				t.Errorf("%s: %v allocations to encode", m.TypeName(), n)
			}
			into := create(t, m.TypeName())
			var d cdr.Decoder
			decode := func() {
				d.Reset(buf)
				into.UnmarshalCDR(&d)
			}
			decode()
			if n := testing.AllocsPerRun(20, decode); n != 0 || d.Finish() != nil {
				t.Errorf("%s: %v allocations to decode, %v", m.TypeName(), n, d.Finish())
			}
		}
	}
}

// Any bytes as any type are an error or a message that is encoded to an equal one.
func FuzzUnmarshal(f *testing.F) {
	names := slices.Concat(msgs.Names(), slices.Sorted(maps.Keys(creators)))
	for _, r := range recordings(f) {
		f.Add(uint16(slices.Index(names, r.Type)), r.data)
	}
	f.Fuzz(func(t *testing.T, which uint16, data []byte) {
		name := names[int(which)%len(names)]
		m, again := create(t, name), create(t, name)
		if cdr.Unmarshal(data, m) != nil {
			return
		}
		first, err := cdr.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := cdr.Unmarshal(first, again); err != nil {
			t.Fatal(err)
		}
		second, err := cdr.Marshal(again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v\n% x\n% x", err, first, second)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	for _, m := range hot(b) {
		b.Run(short(m), func(b *testing.B) {
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = cdr.Append(buf[:0], cdr.LittleEndian, m)
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, m := range hot(b) {
		b.Run(short(m), func(b *testing.B) {
			data, err := cdr.Marshal(m)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := cdr.Unmarshal(data, m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func short(m cdr.Message) string {
	return m.TypeName()[strings.LastIndexByte(m.TypeName(), '/')+1:]
}
