package description_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/msgs"
	tdi "vnd/msgs/type_description_interfaces"
	"vnd/pkg/ros2/ros/description"
)

// The descriptions of rosidl_generator_type_description of Jazzy.
type recorded struct {
	Type struct {
		Own        individual   `json:"type_description"`
		Referenced []individual `json:"referenced_type_descriptions"`
	} `json:"type_description_msg"`
	Hashes []struct {
		Hash string `json:"hash_string"`
	} `json:"type_hashes"`
}

type individual struct {
	Name   string `json:"type_name"`
	Fields []struct {
		Name string `json:"name"`
		Type struct {
			ID             uint8  `json:"type_id"`
			Capacity       uint64 `json:"capacity"`
			StringCapacity uint64 `json:"string_capacity"`
			Nested         string `json:"nested_type_name"`
		} `json:"type"`
		Default string `json:"default_value"`
	} `json:"fields"`
}

func (i individual) message() tdi.IndividualTypeDescription {
	m := tdi.IndividualTypeDescription{TypeName_: i.Name}
	for _, f := range i.Fields {
		m.Fields = append(m.Fields, tdi.Field{Name: f.Name, DefaultValue: f.Default, Type: tdi.FieldType{
			TypeID: f.Type.ID, Capacity: f.Type.Capacity, StringCapacity: f.Type.StringCapacity,
			NestedTypeName: f.Type.Nested,
		}})
	}
	return m
}

func TestAsRosidl(t *testing.T) {
	for file, name := range map[string]string{
		"testdata/rihs01_example_std_srvs_SetBool.json": "std_srvs/srv/SetBool",
		"testdata/rihs01_example_std_msgs_Header.json":  "std_msgs/msg/Header",
	} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var r recorded
			if err := json.Unmarshal(data, &r); err != nil {
				t.Fatal(err)
			}
			want := tdi.TypeDescription{TypeDescription: r.Type.Own.message()}
			for _, ref := range r.Type.Referenced {
				want.ReferencedTypeDescriptions = append(want.ReferencedTypeDescriptions, ref.message())
			}
			got, err := description.Of("jazzy", name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Type); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if got.Hash != r.Hashes[0].Hash {
				t.Errorf("%s: %s, want %s", name, got.Hash, r.Hashes[0].Hash)
			}
			if len(got.Sources) != 1+len(want.ReferencedTypeDescriptions) {
				t.Errorf("%s: %d sources", name, len(got.Sources))
			}
		})
	}
}

// Every type of package msgs can be described: the hash of the parsed text is the announced one.
func TestEveryType(t *testing.T) {
	for _, name := range msgs.Names() {
		if _, err := description.Of("jazzy", name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if service, ok := strings.CutSuffix(name, "_Request"); ok {
			if _, err := description.Of("jazzy", service); err != nil {
				t.Errorf("%s: %v", service, err)
			}
		}
	}
	_, err := description.Of("jazzy", "no/msg/Such")
	if err == nil || err.Error() != `type "no/msg/Such" is not known` {
		t.Error(err)
	}
}

func TestDefaultsAndSources(t *testing.T) {
	d, err := description.Of("jazzy", "type_description_interfaces/srv/GetTypeDescription_Request")
	if err != nil {
		t.Fatal(err)
	}
	f := d.Type.TypeDescription.Fields
	if len(f) != 3 || f[2].Name != "include_type_sources" || f[2].DefaultValue != "True" {
		t.Errorf("%+v", f)
	}
	if d, err = description.Of("jazzy", "std_srvs/srv/SetBool"); err != nil || d.Sources[0].Encoding != "srv" ||
		!strings.Contains(d.Sources[0].RawFileContents, "\n---\n") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = description.Of("jazzy", "std_msgs/msg/Header"); err != nil || len(d.Sources) != 2 ||
		d.Sources[0].Encoding != "msg" ||
		!strings.Contains(d.Sources[0].RawFileContents, "frame_id") {
		t.Errorf("%+v, %v", d, err)
	}
}
