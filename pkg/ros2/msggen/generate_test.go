package msggen_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/ros2/msggen"
)

func treeOf(files map[string]string) *msggen.Tree {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return &msggen.Tree{FS: fsys, Root: ".", Import: "example/msgs"}
}

// Nested types, a bounded string, a message without fields, and a service with its event.
func TestHashesAreThoseOfJazzy(t *testing.T) {
	set, err := treeOf(map[string]string{
		"builtin_interfaces/msg/Time.msg": "int32 sec 7 # neither default nor comment count\nuint32 nanosec\n",
		"std_msgs/msg/Header.msg": "uint8 NOR_CONSTANTS = 1\nbuiltin_interfaces/Time stamp\nstring " +
			"frame_id\n",
		"std_msgs/msg/Empty.msg": "",
		"service_msgs/msg/ServiceEventInfo.msg": "uint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] " +
			"client_gid\nint64 sequence_number\n",
		"std_srvs/srv/SetBool.srv":   "bool data\n---\nbool success\nstring message\n",
		"rmw_dds_common/msg/Gid.msg": "char[16] data\n",
		"rmw_dds_common/msg/NodeEntitiesInfo.msg": "string<=256 node_namespace\nstring<=256 node_name\nGid[] " +
			"reader_gid_seq\nGid[] writer_gid_seq\n",
	}).Set()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"builtin_interfaces/msg/Time":         "b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197",
		"std_msgs/msg/Header":                 "f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01",
		"std_msgs/msg/Empty":                  "20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312",
		"std_srvs/srv/SetBool":                "abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a",
		"std_srvs/srv/SetBool_Event":          "3c4c20015afb4303eafd347b1d6a786f171a89c814726961a9593ef10df878cf",
		"std_srvs/srv/SetBool_Request":        "c62fbb99d94e1b25e8ef9e109f9581956bb1b3361a45a4e5810c36a90d29932e",
		"std_srvs/srv/SetBool_Response":       "d0814e7f7b4880ab77e9c57426c7aa1562ab69f11eef8e2e968812f9cbd0b059",
		"rmw_dds_common/msg/NodeEntitiesInfo": "8ffef65ee2d088c63b1e8fcd31e800ba9fc8dbe0ee15ca60d1676de5218087a7",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := set.Hash(name); err != nil || got != "RIHS01_"+want {
				t.Errorf("%s: %s, %v; expected %s", name, got, err, want)
			}
		})
	}
	if _, err := set.Hash("p/msg/Missing"); err == nil || err.Error() != "p/msg/Missing is not defined" {
		t.Error(err)
	}
}

// The types that rosidl derives from an action, as a build of Jazzy hashed them.
func TestHashesOfActionsAreThoseOfJazzy(t *testing.T) {
	set, err := treeOf(map[string]string{
		"builtin_interfaces/msg/Time.msg":     "int32 sec\nuint32 nanosec\n",
		"unique_identifier_msgs/msg/UUID.msg": "uint8[16] uuid\n",
		"service_msgs/msg/ServiceEventInfo.msg": "uint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] " +
			"client_gid\nint64 sequence_number\n",
		"action_interface/action/Robot.action": "float32 v_x\nfloat32 w_z\nfloat32 drive_time\n---\n" +
			"bool complete\n---\nfloat32 percent_complete\n",
	}).Set()
	if err != nil {
		t.Fatal(err)
	}
	for suffix, want := range map[string]string{
		"":                    "a9ce30d15eac1be29293ca8cb9d93d8508c12d25c1c12ecd5b0324f8b3abe170",
		"_Goal":               "1d158c99d62fcbd045e273e790d3d02c4da243e72f5469d355801a1b3d0228f6",
		"_Result":             "539f3f1581d0cbbdbd2aef6a9002cb46415e0abd0e13c1c1d2cea5d8c38ff8ab",
		"_Feedback":           "665ba93aba0b2dbf62787affcd3c56d1469165918e8ded3c8f64eaa78a0331a2",
		"_SendGoal":           "a730a044ea9337e18872f217680af0970e25dd7768f78267e346f7198212de35",
		"_SendGoal_Request":   "a5c8d275bd328d61b8b578f62bf1f864a2c46654281880ab3e36e78092d5e5c7",
		"_SendGoal_Response":  "7ce89fffc375c30c9c14bab533a5c0ee08b98e48f640570ae8ce242e5770471b",
		"_SendGoal_Event":     "1b42804e2d86cc02efeefc3d5023e6145887aa6881d7b6d1aa489a6fde324935",
		"_GetResult":          "2d26d6e8299fafb4530a9a7f7901cec759fcffc9d766c858da47072300eda00d",
		"_GetResult_Request":  "585918498cbf06f0421e53f3df54962e3e3201fc584b11b5cb5e100858291805",
		"_GetResult_Response": "e0387757e3ff274ee8a6aff2d1339ce986dc3c20537e180d57c40da38d673d13",
		"_GetResult_Event":    "6e0eef245e8a3847f003cfe7eee01c1cfab5508f6525d1019a7ec967de508f58",
		"_FeedbackMessage":    "50dfa96f0255adcc46c0e4517fa757f2090bff34b75b7a6055de4f4b1d994b8d",
	} {
		t.Run("Robot"+suffix, func(t *testing.T) {
			if got, err := set.Hash("action_interface/action/Robot" + suffix); err != nil || got != "RIHS01_"+want {
				t.Errorf("%s, %v; expected %s", got, err, want)
			}
		})
	}
}

func TestDefinitionJoinsReferencedTypes(t *testing.T) {
	set, err := treeOf(map[string]string{
		"a/msg/A.msg": "b/B b\nC c",
		"a/msg/C.msg": "b/B b # seen before\n",
		"b/msg/B.msg": "D d\n",
		"b/msg/D.msg": "",
	}).Set()
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("=", 80)
	want := "b/B b\nC c\n" + line + "\nMSG: b/B\nD d\n" + line + "\nMSG: b/D\n" + line +
		"\nMSG: a/C\nb/B b # seen before\n"
	got, err := set.Definition("a/msg/A")
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	for text, want := range map[string]string{
		"Missing m":                         "bag: p/msg/T.m: p/msg/Missing is not defined",
		"T t":                               "bag: p/msg/T.t: p/msg/T contains itself",
		"int8 a\n" + line:                   `bag:3: expected "MSG: package/Name" after the separator`,
		"int8 a\n" + line + "\nIDL: p/U":    `bag:3: expected "MSG: package/Name" after the separator`,
		"U u\n" + line + "\nMSG: p/U\nint8": `bag:4: "int8", expected a type and a name`,
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := msggen.ParseDefinition("bag", "p/msg/T", text); err == nil || err.Error() != want {
				t.Errorf("%q: %v\nexpected %s", text, err, want)
			}
		})
	}
}

func TestGenerateRefuses(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"readme": ""}, ".: no package with msg/*.msg, srv/*.srv or action/*.action"},
		{map[string]string{"p/msg/readme": ""}, "p: no msg/*.msg, srv/*.srv or action/*.action"},
		{map[string]string{"Big/msg/A.msg": ""}, `Big: package name "Big", expected lower_snake_case`},
		{map[string]string{"p/msg/a.msg": ""}, `p/msg/a.msg: type name "p/msg/a", expected package/msg/Name`},
		{map[string]string{"p/msg/A.msg": "int8 1"}, `p/msg/A.msg:1: field name "1", expected lower_snake_case`},
		{map[string]string{"p/msg/A.msg": "q/B b"}, "p/msg/A: p/msg/A.b: q/msg/B is not defined"},
		{map[string]string{"p/msg/A.msg": "B b", "p/msg/B.msg": "A a"},
			"p/msg/A: p/msg/A.b: p/msg/B.a: p/msg/A contains itself"},
		{map[string]string{"p/msg/A.msg": "int8 ab1\nint8 a_b1\nint8 ab_1"},
			"p/msg/A: fields ab1 and ab_1 are both Ab1 in Go"},
		{map[string]string{"p/msg/A.msg": "int8 B_C = 1", "p/msg/ABC.msg": ""},
			"p/msg/ABC: p/msg/A.B_C and p/msg/ABC are both ABC in Go"},
		{map[string]string{"p/msg/A.msg": "", "p/msg/NewA.msg": ""},
			"p/msg/NewA: the constructor of p/msg/A and p/msg/NewA are both NewA in Go"},
		{map[string]string{"p/msg/AB.msg": "", "p/msg/Ab.msg": ""},
			"p/msg/Ab: the file p/ab.gen.go belongs to another definition too"},
		{map[string]string{"p/srv/A.srv": "---", "p/msg/ARequest.msg": ""},
			"p/srv/A: p/msg/ARequest and p/srv/A_Request are both ARequest in Go"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := treeOf(c.files).Generate()
			if err == nil || err.Error() != c.want {
				t.Errorf("%v: %v\nexpected %s", c.files, err, c.want)
			}
		})
	}
}

func TestWriteReplacesStaleFiles(t *testing.T) {
	dir := t.TempDir()
	files, err := treeOf(map[string]string{
		"my_msgs/msg/A.msg": "# Doc.\n\nuint8 X = 3 # three\nstring<=4[<=2] type_name # names\nB[] items\n",
		"my_msgs/msg/B.msg": "float64 w 1\n",
		"my_msgs/srv/S.srv": "A a\n---\n",
	}).Generate()
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(files))
	if !slices.Equal(names, []string{"my_msgs/a.gen.go", "my_msgs/b.gen.go", "my_msgs/s.gen.go"}) {
		t.Fatal(names)
	}
	for _, want := range []string{
		msggen.Marker + "\n\npackage mymsgs\n",
		"// A is my_msgs/msg/A.\n//\n// Doc.\ntype A struct {\n\t// names\n" +
			"\tTypeName_ []string // strings of at most 4, at most 2 elements\n\tItems     []B\n}",
		"\t// three\n\tAX uint8 = 3\n",
		"m.TypeName_ = cdr.Resize(m.TypeName_, d.Len(2, 4, \"my_msgs/msg/A.type_name\"))",
		"m.Items = cdr.Resize(m.Items, d.Len(0, 8, \"my_msgs/msg/A.items\"))",
	} {
		if !strings.Contains(string(files["my_msgs/a.gen.go"]), want) {
			t.Errorf("no %q in\n%s", want, files["my_msgs/a.gen.go"])
		}
	}
	put := func(name, content string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("my_msgs/old.gen.go", msggen.Marker+"\npackage mymsgs\n")
	put("my_msgs/other.gen.go", "package mymsgs\n")
	put("my_msgs/b.gen.go", "changed")
	for range 2 {
		if err := msggen.Write(dir, files); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "my_msgs", "*"))
	if err != nil || len(left) != 4 {
		t.Errorf("%v, %v", left, err)
	}
	for _, name := range names {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != string(files[name]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "my_msgs/old.gen.go")); !os.IsNotExist(err) {
		t.Error("the stale file is left")
	}
}
