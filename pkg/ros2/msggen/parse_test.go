package msggen_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/ros2/msggen"
)

// everything is a definition with every kind of declaration.
const everything = `# What it is.
#   In two lines.

# More of it.

# Above the constant.
uint8 FIRST=1# tight
byte SECOND = 0x10
string QUOTED = "a # b" # comment
string BARE = don't # comment
string EMPTY =
float32 SCALE = -1.5e3
bool ON = True

# Above the field,
# in two lines.
std_msgs/Header header
Point[3] corners	# tabs	and more
geometry_msgs/msg/Pose[] poses
string<=8[<=2] names ["a,b", 'c"d']
wstring<=3 wide 'h\'i'
int8[] list [-1, +2, 0x7f]
float64 x 2.5 # default
char[4] code [1,2,3,4]
bool flag 0
`

// parsed is what ParseMessage makes of everything.
func parsed() *msggen.Message {
	single := func(b msggen.Base) msggen.Type { return msggen.Type{Base: b} }
	nested := func(ref string, a msggen.Array, size int) msggen.Type {
		return msggen.Type{Base: msggen.Nested, Ref: ref, Array: a, Size: size}
	}
	return &msggen.Message{
		Name: "p_1/msg/T",
		Doc:  []string{"What it is.", "In two lines.", "", "More of it."},
		Constants: []msggen.Constant{
			{Name: "FIRST", Type: single(msggen.Uint8), Value: uint64(1),
				Doc: []string{"Above the constant.", "tight"}},
			{Name: "SECOND", Type: single(msggen.Byte), Value: uint64(16)},
			{Name: "QUOTED", Type: single(msggen.String), Value: "a # b", Doc: []string{"comment"}},
			{Name: "BARE", Type: single(msggen.String), Value: "don't", Doc: []string{"comment"}},
			{Name: "EMPTY", Type: single(msggen.String), Value: ""},
			{Name: "SCALE", Type: single(msggen.Float32), Value: -1500.0},
			{Name: "ON", Type: single(msggen.Bool), Value: true},
		},
		Fields: []msggen.Field{
			{Name: "header", Type: nested("std_msgs/msg/Header", msggen.Single, 0),
				Doc: []string{"Above the field,", "in two lines."}},
			{Name: "corners", Type: nested("p_1/msg/Point", msggen.Fixed, 3), Doc: []string{"tabs\tand more"}},
			{Name: "poses", Type: nested("geometry_msgs/msg/Pose", msggen.Unbounded, 0)},
			{Name: "names", Type: msggen.Type{Base: msggen.String, StringBound: 8, Array: msggen.Bounded, Size: 2},
				Default: []any{"a,b", `c"d`}},
			{Name: "wide", Type: msggen.Type{Base: msggen.WString, StringBound: 3}, Default: "h'i"},
			{Name: "list", Type: msggen.Type{Base: msggen.Int8, Array: msggen.Unbounded},
				Default: []any{int64(-1), int64(2), int64(127)}},
			{Name: "x", Type: single(msggen.Float64), Default: 2.5, Doc: []string{"default"}},
			{Name: "code", Type: msggen.Type{Base: msggen.Uint8, Array: msggen.Fixed, Size: 4},
				Default: []any{uint64(1), uint64(2), uint64(3), uint64(4)}},
			{Name: "flag", Type: single(msggen.Bool), Default: false},
		},
	}
}

func TestParseMessageReadsEveryDeclaration(t *testing.T) {
	for name, text := range map[string]string{
		"LF": everything, "CRLF": strings.ReplaceAll(everything, "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			want := parsed()
			want.Text = text
			got, err := msggen.ParseMessage("T.msg", "p_1/msg/T", text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseServiceReadsBothHalves(t *testing.T) {
	got, err := msggen.ParseService("S.srv", "p/srv/S", "# Does it.\n\nint8 a\n---\nint8 b # answer\n")
	if err != nil {
		t.Fatal(err)
	}
	int8Type := msggen.Type{Base: msggen.Int8}
	want := &msggen.Service{
		Name: "p/srv/S",
		Doc:  []string{"Does it."},
		Request: &msggen.Message{Name: "p/srv/S_Request", Doc: []string{"Does it."}, Text: "# Does it.\n\nint8 a\n",
			Fields: []msggen.Field{{Name: "a", Type: int8Type}}},
		Response: &msggen.Message{Name: "p/srv/S_Response", Text: "int8 b # answer\n",
			Fields: []msggen.Field{{Name: "b", Type: int8Type, Doc: []string{"answer"}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"int8 a\n":                 "S.srv:2: 0 of the lines ---, expected 1, between request, response",
		"---\n---\n":               "S.srv:2: 2 of the lines ---, expected 1, between request, response",
		"int8 a\n---\nint8 a\nx\n": `S.srv:4: "x", expected a type and a name`,
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := msggen.ParseService("S.srv", "p/srv/S", text); err == nil || err.Error() != want {
				t.Errorf("%q: %v, expected %s", text, err, want)
			}
		})
	}
}

func TestParseRefusesWithFileAndLine(t *testing.T) {
	for text, want := range map[string]string{
		"int32":                    `T.msg:1: "int32", expected a type and a name`,
		"\n\nint32 # name":         `T.msg:3: "int32 # name", expected a type and a name`,
		"int32 Name":               `T.msg:1: field name "Name", expected lower_snake_case`,
		"int32 a__b":               `T.msg:1: field name "a__b", expected lower_snake_case`,
		"int32 a\nint64 a":         "T.msg:2: a is declared twice",
		"int32 name = 3":           `T.msg:1: constant name "name", expected UPPER_SNAKE_CASE`,
		"int32[] LIST = 3":         "T.msg:1: constant LIST, expected a primitive type without []",
		"geometry_msgs/Pose P = 3": "T.msg:1: constant P, expected a primitive type without []",
		"uint8 BIG = 256":          `T.msg:1: constant BIG: "256", expected an unsigned integer of 8 bits`,
		"uint8 LOW = -1":           `T.msg:1: constant LOW: "-1", expected an unsigned integer of 8 bits`,
		"int16 BIG = 40000":        `T.msg:1: constant BIG: "40000", expected a signed integer of 16 bits`,
		"float32 BIG = 1e39":       `T.msg:1: constant BIG: "1e39", expected a finite number of 32 bits`,
		"float64 NAN = nan":        `T.msg:1: constant NAN: "nan", expected a finite number of 64 bits`,
		"bool B = 2":               `T.msg:1: constant B: "2", expected true or false`,
		"string S = \"open":        `T.msg:1: constant S: "open, expected one string that ends with its closing "`,
		"string<=2 s \"abc\"":      `T.msg:1: default of s: "abc" has length 3, expected at most 2`,
		"int32[2] a [1]":           "T.msg:1: default of a: 1 values, expected 2",
		"int32[<=2] a [1, 2, 3]":   "T.msg:1: default of a: 3 values, expected at most 2",
		"int32[] a 1":              `T.msg:1: default of a: "1", expected a list in brackets`,
		"string[] a ['b' 'c']":     "T.msg:1: default of a: 'c', expected a comma",
		"string[] a ['b]":          "T.msg:1: default of a: 'b, expected a closing '",
		"std_msgs/Header h 1":      `T.msg:1: default of h: "1", expected none: only primitives have defaults`,
		"time stamp":               `T.msg:1: type "time" is of ROS 1, expected builtin_interfaces/Time or Duration`,
		"int99 a":                  `T.msg:1: type "int99", expected a primitive, Name or package/Name`,
		"Std_msgs/Header a":        `T.msg:1: type "Std_msgs/Header", expected a primitive, Name or package/Name`,
		"a/srv/B_Request a":        `T.msg:1: type "a/srv/B_Request", expected a primitive, Name or package/Name`,
		"int32<=3 a":               `T.msg:1: type "int32<=3": a bound before [] needs string or wstring`,
		"int32[0] a":               `T.msg:1: size "0", expected 1 to 2147483647`,
		"int32[99999999999] a":     `T.msg:1: size "99999999999", expected 1 to 2147483647`,
		"int32[<=] a":              `T.msg:1: size "", expected 1 to 2147483647`,
		"int32[ a": `T.msg:1: type "int32[", expected one like int32, string<=8, geometry_msgs/Point, ` +
			`with [], [3] or [<=3]`,
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := msggen.ParseMessage("T.msg", "p/msg/T", text); err == nil || err.Error() != want {
				t.Errorf("%q: %v\nexpected %s", text, err, want)
			}
		})
	}
	want := `T.msg: type name "p/T", expected package/msg/Name`
	if _, err := msggen.ParseMessage("T.msg", "p/T", ""); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// No text makes the parser panic. A definition that it accepts can be hashed, written and parsed again
// to the same hash.
func FuzzParse(f *testing.F) {
	f.Add("# doc\n\nint32[<=3] a [1, 2] # c\nstring<=4 S = \"x\"\nstd_msgs/Header h\n")
	f.Add("Other[2] o\n" + strings.Repeat("=", 80) + "\nMSG: p/Other\nwstring w 'a\\'b'\n")
	f.Add(strings.Repeat("=", 80) + "\nMSG: p/T\nT t\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = msggen.ParseService("S.srv", "p/srv/S", text)
		set, err := msggen.ParseDefinition("T.msg", "p/msg/T", text)
		if err != nil {
			return
		}
		hash, err := set.Hash("p/msg/T")
		if err != nil {
			t.Fatal(err)
		}
		joined, err := set.Definition("p/msg/T")
		if err != nil {
			t.Fatal(err)
		}
		again, err := msggen.ParseDefinition("again", "p/msg/T", joined)
		if err != nil {
			t.Fatalf("%v in %q", err, joined)
		}
		if second, err := again.Hash("p/msg/T"); err != nil || second != hash {
			t.Fatalf("%v: %s, %s", err, hash, second)
		}
	})
}
