package msggen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// atLeastOneMember is the field that a message without fields has in its description and on the wire.
var atLeastOneMember = Field{Name: "structure_needs_at_least_one_member", Type: Type{Base: Uint8}}

// Hash is the RIHS01 hash of REP-2011 of a message, a service, or one of a service's Request,
// Response and Event: "RIHS01_" and 64 hexadecimal digits.
func (s *Set) Hash(full string) (string, error) {
	refs, err := s.References(full)
	if err != nil {
		return "", err
	}
	root, err := s.describe(full)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(`{"type_description": `)
	writeDescription(&b, root)
	b.WriteString(`, "referenced_type_descriptions": [`)
	slices.Sort(refs)
	for i, ref := range refs {
		if i > 0 {
			b.WriteString(", ")
		}
		m, err := s.describe(ref)
		if err != nil {
			return "", err
		}
		writeDescription(&b, m)
	}
	b.WriteString("]}")
	sum := sha256.Sum256([]byte(b.String()))
	return "RIHS01_" + hex.EncodeToString(sum[:]), nil
}

// writeDescription writes an IndividualTypeDescription as Python's json.dumps would; default values
// and constants are no part of what is hashed. Names are ASCII without quotes by the naming rules.
func writeDescription(b *strings.Builder, m *Message) {
	fields := m.Fields
	if len(fields) == 0 {
		fields = []Field{atLeastOneMember}
	}
	fmt.Fprintf(b, `{"type_name": "%s", "fields": [`, m.Name)
	for i, f := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		id := int(f.Type.Base) + int(f.Type.Array)
		if f.Type.StringBound > 0 {
			id += boundedString
		}
		fmt.Fprintf(b, `{"name": "%s", "type": {"type_id": %d, "capacity": %d, "string_capacity": %d, "nested_type_name": "%s"}}`,
			f.Name, id, f.Type.Size, f.Type.StringBound, f.Type.Ref)
	}
	b.WriteString("]}")
}

// describe is Message, extended to what rosidl derives from a service.
func (s *Set) describe(full string) (*Message, error) {
	nested := func(name, ref string, array Array, size int) Field {
		return Field{Name: name, Type: Type{Base: Nested, Ref: ref, Array: array, Size: size}}
	}
	if s.Service(full) != nil {
		return &Message{Name: full, Fields: []Field{
			nested("request_message", full+"_Request", Single, 0),
			nested("response_message", full+"_Response", Single, 0),
			nested("event_message", full+"_Event", Single, 0),
		}}, nil
	}
	if base, ok := strings.CutSuffix(full, "_Event"); ok && s.Service(base) != nil {
		return &Message{Name: full, Fields: []Field{
			nested("info", "service_msgs/msg/ServiceEventInfo", Single, 0),
			nested("request", base+"_Request", Bounded, 1),
			nested("response", base+"_Response", Bounded, 1),
		}}, nil
	}
	if m := s.Message(full); m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("%s is not defined", full)
}
