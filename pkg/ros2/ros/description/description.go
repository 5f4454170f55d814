// Package description describes types field by field, as the service
// get_type_description of newer ROS 2 distributions does (REP-2016).
package description

import (
	"fmt"
	"slices"
	"strings"

	"vnd/msgs"
	tdi "vnd/msgs/type_description_interfaces"
	"vnd/pkg/ros2/msggen"
)

// separator stands between the definitions of a type and of the types that it refers to.
var separator = strings.Repeat("=", 80)

// Description of a type.
type Description struct {
	Hash    string // RIHS01
	Type    tdi.TypeDescription
	Sources []tdi.TypeSource // of the type and of all types that it refers to
}

// Of describes a message ("std_msgs/msg/Header"), a service
// ("std_srvs/srv/SetBool"), or its _Request or _Response, as the distribution has it.
func Of(distro, name string) (*Description, error) {
	if s, ok := msgs.LookupService(name); ok {
		return ofService(s)
	}
	t, ok := msgs.LookupIn(distro, name)
	if !ok {
		return nil, fmt.Errorf("type %.100q is not known", name)
	}
	set, err := msggen.ParseDefinition(name, name, t.Definition())
	if err != nil {
		return nil, err
	}
	return describe(set, name, t.Hash)
}

// ofService describes a service by the three types that rosidl derives from it.
func ofService(s msgs.Service) (*Description, error) {
	event, ok := msgs.Lookup("service_msgs/msg/ServiceEventInfo")
	if !ok {
		return nil, fmt.Errorf("type %s is not known", event.Name)
	}
	set := msggen.NewSet(nil)
	var halves []string
	for _, t := range []msgs.Type{s.Request, s.Response, event} {
		own, err := msggen.ParseDefinition(t.Name, t.Name, t.Definition())
		if err != nil {
			return nil, err
		}
		for _, m := range own.Messages() {
			set.Add(m)
		}
		text, _, _ := strings.Cut(t.Definition(), separator)
		halves = append(halves, text)
	}
	service, err := msggen.ParseService(s.Name, s.Name, halves[0]+"---\n"+halves[1])
	if err != nil {
		return nil, err
	}
	set.AddService(service)
	return describe(set, s.Name, s.Hash)
}

func describe(set *msggen.Set, name, hash string) (*Description, error) {
	switch got, err := set.Hash(name); {
	case err != nil:
		return nil, err
	case got != hash:
		return nil, fmt.Errorf("the definition of %s hashes to %s, expected %s", name, got, hash)
	}
	refs, err := set.References(name)
	if err != nil {
		return nil, err
	}
	slices.Sort(refs)
	d := &Description{Hash: hash}
	var all []tdi.IndividualTypeDescription
	for _, t := range append([]string{name}, refs...) {
		one, err := individual(set, t)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
		d.Sources = append(d.Sources, source(set, t))
	}
	d.Type = tdi.TypeDescription{TypeDescription: all[0], ReferencedTypeDescriptions: all[1:]}
	return d, nil
}

// individual describes one type of the set, without the types that it refers to.
func individual(set *msggen.Set, name string) (d tdi.IndividualTypeDescription, err error) {
	m, err := set.Describe(name)
	if err != nil {
		return d, err
	}
	d.TypeName_ = name
	for _, f := range m.Fields {
		t := tdi.FieldType{TypeID: f.Type.ID(), Capacity: uint64(f.Type.Size),
			StringCapacity: uint64(f.Type.StringBound), NestedTypeName: f.Type.Ref}
		d.Fields = append(d.Fields, tdi.Field{Name: f.Name, Type: t, DefaultValue: python(f.Default)})
	}
	return d, nil
}

// python writes a default as Python's str(), which rosidl uses.
func python(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "True"
		}
		return "False"
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, python(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// source is the text of a type. A service has that of its file; what rosidl derives has none.
func source(set *msggen.Set, name string) tdi.TypeSource {
	if m := set.Message(name); m != nil && strings.Contains(name, "/msg/") {
		return tdi.TypeSource{TypeName_: name, Encoding: "msg", RawFileContents: m.Text}
	}
	s := tdi.TypeSource{TypeName_: name, Encoding: "implicit"} // rosidl's word for what has no file of its own
	if v := set.Service(name); v != nil {
		s.Encoding, s.RawFileContents = "srv", v.Request.Text+"---\n"+v.Response.Text
	}
	return s
}
