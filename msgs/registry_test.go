package msgs_test

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"vnd/msgs"
	"vnd/pkg/ros2/msggen"
)

// Events of services included.
func TestHashesAreThoseOfJazzy(t *testing.T) {
	var want map[string]string
	readJSON(t, "testdata/rihs01_jazzy.json", &want)
	readJSON(t, "testdata/rihs01_more.json", &want)
	if len(want) != 278+29 {
		t.Fatalf("%d hashes, expected 278 and 29", len(want))
	}
	set := definitions(t, tree)
	for name, hash := range want {
		if got, err := set.Hash(name); err != nil || got != hash {
			t.Errorf("%s: %s, %v; expected %s", name, got, err, hash)
		}
		if strings.HasSuffix(name, "_Event") {
			continue
		}
		typ, isType := msgs.Lookup(name)
		service, isService := msgs.LookupService(name)
		if isType == isService || typ.Hash+service.Hash != hash {
			t.Errorf("registry: %s has hash %s, expected %s", name, typ.Hash+service.Hash, hash)
		}
	}
}

// Of the messages that this project and Lyrical have in common, ROS 2 Lyrical's own generator gave another hash to one.
func TestTypeOfLyrical(t *testing.T) {
	const name, hash = "lifecycle_msgs/msg/TransitionEvent",
		"RIHS01_78b19e2be41a797fc009c96bda68944182edabec7852cccd928a40bc06f6f9d7"
	set := definitions(t, lyrical)
	refs, err := set.References(name)
	got, ok := msgs.LookupIn("lyrical", name)
	if h, hashErr := set.Hash(name); err != nil || hashErr != nil || h != hash || !ok || got.Hash != hash ||
		got.New().TypeName() != name {
		t.Errorf("%s, %+v, %v, %v", h, got, err, hashErr)
	}
	if want, err := set.Definition(name); err != nil || got.Definition() != want {
		t.Errorf("refers to %v, %v\n got %q\nwant %q", refs, err, got.Definition(), want)
	}
	older, _ := msgs.LookupIn("kilted", name)
	if jazzy, _ := msgs.Lookup(name); older.Hash != jazzy.Hash || older.Hash == hash {
		t.Errorf("Kilted: %s", older.Hash)
	}
}

func TestRegistryHasEveryType(t *testing.T) {
	set := definitions(t, tree)
	if got, want := len(msgs.Names()), len(set.Messages()); got != want {
		t.Errorf("%d types, expected %d", got, want)
	}
	for _, name := range msgs.Names() {
		typ, ok := msgs.Lookup(name)
		if !ok || typ.Name != name || typ.New().TypeName() != name {
			t.Errorf("%s: %+v", name, typ)
		}
		want, err := set.Definition(name)
		if err != nil || typ.Definition() != want {
			t.Errorf("%s: %v\n got %q\nwant %q", name, err, typ.Definition(), want)
		}
		// The definition alone gives the same type.
		alone, err := msggen.ParseDefinition(name, name, typ.Definition())
		if err != nil {
			t.Error(err)
			continue
		}
		if hash, err := alone.Hash(name); err != nil || hash != typ.Hash {
			t.Errorf("%s: %s, %v; expected %s", name, hash, err, typ.Hash)
		}
	}
	service, ok := msgs.LookupService("std_srvs/srv/SetBool")
	if !ok || service.Request.New().TypeName() != "std_srvs/srv/SetBool_Request" ||
		service.Response.DDSName() != "std_srvs::srv::dds_::SetBool_Response_" {
		t.Errorf("%+v", service)
	}
	if _, ok := msgs.Lookup("std_srvs/srv/SetBool"); ok {
		t.Error("a service is no message")
	}
	if got := msgs.DDSName("geometry_msgs/msg/Pose"); got != "geometry_msgs::msg::dds_::Pose_" {
		t.Error(got)
	}
}

// The generated code is that of the current definitions.
func TestGeneratedIsFresh(t *testing.T) {
	for dir, tree := range map[string]*msggen.Tree{".": tree, "humble": humble, "lyrical": lyrical,
		"internal": internal} {
		want, err := tree.Generate()
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range want {
			if got, err := fs.ReadFile(tree.FS, name); err != nil || string(got) != string(content) {
				t.Errorf("%s/%s is stale: run go generate ./msgs/... (%v)", dir, name, err)
			}
		}
		var have []string
		for _, pattern := range []string{"*.gen.go", "*/*.gen.go"} {
			names, err := fs.Glob(os.DirFS(dir), pattern)
			if err != nil {
				t.Fatal(err)
			}
			have = append(have, names...)
		}
		for _, name := range have {
			if want[name] == nil {
				t.Errorf("%s/%s has no definition any more: run go generate ./msgs/...", dir, name)
			}
		}
	}
}

// Every field has a comment; those of numbers in the project's own messages name a unit or range.
func TestFieldsAreDocumented(t *testing.T) {
	for _, tree := range []*msggen.Tree{tree, humble, lyrical} {
		for _, m := range definitions(t, tree).Messages() {
			for _, f := range m.Fields {
				if len(f.Doc) == 0 {
					t.Errorf("%s.%s has no comment", m.Name, f.Name)
				}
				if strings.HasPrefix(m.Name, "vnd/") && !hasUnit(f) {
					t.Errorf("%s.%s: no unit in %q", m.Name, f.Name, f.Doc)
				}
			}
		}
	}
}

// hasUnit reports whether the comment of a number names a unit, a range or what it counts.
func hasUnit(f msggen.Field) bool {
	switch f.Type.Base {
	case msggen.String, msggen.Bool, msggen.Nested:
		return true
	}
	units := []string{"m", "m/s", "m/s^2", "rad", "rad/s", "s", "0", "unit", "number", "counts", "stage", "bytes",
		"SHA-256"}
	isSeparator := func(r rune) bool { return strings.ContainsRune(" ,:;()", r) }
	words := strings.FieldsFunc(strings.Join(f.Doc, " "), isSeparator)
	return slices.ContainsFunc(units, func(u string) bool { return slices.Contains(words, u) })
}

// The names of the contract, and of the simulator's own service.
func TestFieldsAreThoseOfTheContract(t *testing.T) {
	want := map[string]string{
		"vnd/msg/ThrustRates": "header thrust body_rates",
		"vnd/msg/Step": "header seq pose velocity command command_sent actuator reference latent latent_stamp " +
			"bundle_id guard_state confidence task",
		"vnd/msg/Latent":   "header mean novelty bundle_id",
		"vnd/msg/Feature":  "id visible x y",
		"vnd/msg/Features": "header features",
		"vnd/msg/Bundle":   "header id parent robot task data sha256 metrics_json",
		"vnd/msg/ArmStep": "header seq position velocity effort tool reference latent bundle_id policy fault " +
			"task",
		"vnd/msg/PushStep":         "header seq push box tool goal command bundle_id there fault policy_failed",
		"vnd/msg/BufferSegment":    "header directory file rows sha256",
		"vnd/msg/LearnerStatus":    "header phase progress transitions bundle_id loss validation message",
		"vnd/srv/SetTask_Request":  "task reference_json",
		"vnd/srv/SetTask_Response": "success message",

		"vnd/srv/SetCondition_Request":  "condition",
		"vnd/srv/SetCondition_Response": "success message",
	}
	for action, fields := range map[string][3]string{
		"FlyTask": {"task reference_json duration", "error message", "elapsed error"},
		"Land":    {"", "success message", "height"},
		"Learn":   {"rounds", "rounds promoted bundle_id message", "round phase progress"},
		"TakeOff": {"", "success message", "height"},
	} {
		base := "vnd/action/" + action
		want[base+"_Goal"], want[base+"_Result"], want[base+"_Feedback"] = fields[0], fields[1], fields[2]
		maps.Copy(want, derived(base))
	}
	got := map[string]string{}
	for _, m := range definitions(t, tree).Messages() {
		if !strings.HasPrefix(m.Name, "vnd/") {
			continue
		}
		var names []string
		for _, f := range m.Fields {
			names = append(names, f.Name)
		}
		got[m.Name] = strings.Join(names, " ")
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// derived are the messages that rosidl derives from an action.
func derived(action string) map[string]string {
	return map[string]string{
		action + "_SendGoal_Request":   "goal_id goal",
		action + "_SendGoal_Response":  "accepted stamp",
		action + "_GetResult_Request":  "goal_id",
		action + "_GetResult_Response": "status result",
		action + "_FeedbackMessage":    "goal_id feedback",
	}
}
