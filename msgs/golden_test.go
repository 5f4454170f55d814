package msgs_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"vnd/msgs"
	humblermw "vnd/msgs/humble/rmw_dds_common"
	humblesensor "vnd/msgs/humble/sensor_msgs"
	testmsgs "vnd/msgs/internal/test_msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/msggen"
)

// recording is one message that ROS 2 Humble serialized, see testdata/README.md.
type recording struct {
	Name   string
	Type   string
	data   []byte
	fields map[string]any
}

func recordings(t testing.TB) []recording {
	t.Helper()
	var all []recording
	readJSON(t, "testdata/cdr/INDEX.json", &all)
	for i := range all {
		r := &all[i]
		var err error
		if r.data, err = os.ReadFile(filepath.Join("testdata/cdr", r.Name+".cdr")); err != nil {
			t.Fatal(err)
		}
		var doc struct{ Fields map[string]any }
		readJSON(t, filepath.Join("testdata/cdr", r.Name+".json"), &doc)
		r.fields = doc.Fields
	}
	return all
}

func readJSON(t testing.TB, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// creators are the types that the registry has not, or has as Jazzy defines them.
var creators = map[string]func() cdr.Message{
	"rmw_dds_common/msg/ParticipantEntitiesInfo": func() cdr.Message { return humblermw.NewParticipantEntitiesInfo() },
	"sensor_msgs/msg/Range":                      func() cdr.Message { return humblesensor.NewRange() },
	"test_msgs/msg/Arrays":                       func() cdr.Message { return testmsgs.NewArrays() },
	"test_msgs/msg/BasicTypes":                   func() cdr.Message { return testmsgs.NewBasicTypes() },
	"test_msgs/msg/BoundedSequences":             func() cdr.Message { return testmsgs.NewBoundedSequences() },
	"test_msgs/msg/Defaults":                     func() cdr.Message { return testmsgs.NewDefaults() },
	"test_msgs/msg/Empty":                        func() cdr.Message { return testmsgs.NewEmpty() },
	"test_msgs/msg/MultiNested":                  func() cdr.Message { return testmsgs.NewMultiNested() },
	"test_msgs/msg/Nested":                       func() cdr.Message { return testmsgs.NewNested() },
	"test_msgs/msg/Strings":                      func() cdr.Message { return testmsgs.NewStrings() },
	"test_msgs/msg/UnboundedSequences":           func() cdr.Message { return testmsgs.NewUnboundedSequences() },
	"test_msgs/msg/WStrings":                     func() cdr.Message { return testmsgs.NewWStrings() },
}

func create(t testing.TB, name string) cdr.Message {
	t.Helper()
	if c := creators[name]; c != nil {
		return c()
	}
	typ, ok := msgs.Lookup(name)
	if !ok {
		t.Fatalf("type %s is not known", name)
	}
	return typ.New()
}

// What ROS 2 serialized is decoded to the original values, and encoded to the same bytes. Data with the
// middleware's padding are decoded too.
func TestBytesOfHumbleAreDecodedAndEncoded(t *testing.T) {
	all := recordings(t)
	if len(all) != 123 {
		t.Fatalf("%d recordings, expected 123", len(all))
	}
	for _, r := range all {
		m := create(t, r.Type)
		if m.TypeName() != r.Type {
			t.Errorf("%s: type name %s, expected %s", r.Name, m.TypeName(), r.Type)
		}
		padded := append(bytes.Clone(r.data), make([]byte, -len(r.data)&3)...)
		for _, data := range [][]byte{r.data, padded} {
			if err := cdr.Unmarshal(data, m); err != nil {
				t.Errorf("%s: %v", r.Name, err)
			}
		}
		if err := equal(reflect.ValueOf(m).Elem(), r.fields); err != nil {
			t.Errorf("%s%v", r.Name, err)
		}
		if out, err := cdr.Marshal(m); err != nil || !bytes.Equal(out, r.data) {
			t.Errorf("%s: %v\n got % x\nwant % x", r.Name, err, out, r.data)
		}
	}
}

// The peer is Python's rosbags.
func TestBigEndianBytesAreThoseOfAPeer(t *testing.T) {
	var peer map[string]string
	readJSON(t, "testdata/big_endian.json", &peer)
	for _, r := range recordings(t) {
		text, ok := peer[r.Name]
		if !ok {
			continue
		}
		want, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		m := create(t, r.Type)
		if err := cdr.Unmarshal(want, m); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		if err := equal(reflect.ValueOf(m).Elem(), r.fields); err != nil {
			t.Errorf("%s%v", r.Name, err)
		}
		if out, err := cdr.Append(nil, cdr.BigEndian, m); err != nil || !bytes.Equal(out, want) {
			t.Errorf("%s: %v\n got % x\nwant % x", r.Name, err, out, want)
		}
	}
}

// The defaults are recorded from ROS 2 Humble.
func TestNewMessagesHaveDefaults(t *testing.T) {
	for _, r := range recordings(t) {
		switch r.Name {
		case "test_msgs__Defaults", "geometry_msgs__Quaternion_default":
			if err := equal(reflect.ValueOf(create(t, r.Type)).Elem(), r.fields); err != nil {
				t.Errorf("%s%v", r.Name, err)
			}
		case "test_msgs__Arrays", "test_msgs__BoundedSequences", "test_msgs__UnboundedSequences",
			"test_msgs__Strings", "test_msgs__WStrings":
			m, n := reflect.ValueOf(create(t, r.Type)).Elem(), 0
			for name, want := range r.fields {
				if !bytes.Contains([]byte(name), []byte("default")) {
					continue
				}
				n++
				if err := equal(m.FieldByName(msggen.GoField(name)), want); err != nil {
					t.Errorf("%s.%s%v", r.Name, name, err)
				}
			}
			if n < 3 {
				t.Errorf("%s: %d defaults compared", r.Name, n)
			}
		}
	}
}

// equal compares a decoded value with its JSON, and names the path of a difference.
func equal(v reflect.Value, want any) error {
	switch want := want.(type) {
	case map[string]any:
		if v.Kind() != reflect.Struct || v.NumField() != len(want) {
			return fmt.Errorf(": %d fields, expected %d", v.NumField(), len(want))
		}
		for name, w := range want {
			f := v.FieldByName(msggen.GoField(name))
			if !f.IsValid() {
				return fmt.Errorf(".%s: no such field", name)
			}
			if err := equal(f, w); err != nil {
				return fmt.Errorf(".%s%w", name, err)
			}
		}
		return nil
	case []any:
		if v.Kind() == reflect.Uint8 && len(want) == 1 { // a byte, which Python writes as a list of one
			return equal(v, want[0])
		}
		if v.Kind() != reflect.Slice && v.Kind() != reflect.Array || v.Len() != len(want) {
			return fmt.Errorf(": %v, expected %v", v, want)
		}
		for i, w := range want {
			if err := equal(v.Index(i), w); err != nil {
				return fmt.Errorf("[%d]%w", i, err)
			}
		}
		return nil
	default:
		return equalScalar(v, want)
	}
}

func equalScalar(v reflect.Value, want any) error {
	ok := false
	switch v.Kind() {
	case reflect.String, reflect.Bool:
		ok = v.Interface() == want
	case reflect.Float32, reflect.Float64:
		if n, isNumber := want.(json.Number); isNumber {
			w, err := n.Float64()
			ok = err == nil && v.Float() == w
		} else {
			ok = want == "NaN" && math.IsNaN(v.Float()) ||
				want == "Infinity" && math.IsInf(v.Float(), 1) || want == "-Infinity" && math.IsInf(v.Float(), -1)
		}
	default:
		ok = fmt.Sprint(v) == fmt.Sprint(want)
	}
	if !ok {
		return fmt.Errorf(": %v, expected %v", v, want)
	}
	return nil
}
