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

// Hash is the RIHS01 hash (REP-2011): "RIHS01_" and 64 hexadecimal digits. full names a message, a
// service, an action, or what is derived from them.
func (s *Set) Hash(full string) (string, error) {
	refs, err := s.References(full)
	if err != nil {
		return "", err
	}
	slices.Sort(refs)
	var all []string
	for _, name := range append([]string{full}, refs...) {
		m, err := s.Describe(name)
		if err != nil {
			return "", err
		}
		all = append(all, description(m))
	}
	text := fmt.Sprintf(`{"type_description": %s, "referenced_type_descriptions": [%s]}`, all[0],
		strings.Join(all[1:], ", "))
	sum := sha256.Sum256([]byte(text))
	return "RIHS01_" + hex.EncodeToString(sum[:]), nil
}

// description is an IndividualTypeDescription as Python's json.dumps writes it. Defaults and constants
// are not part of the hash. Names are ASCII without quotes by the naming rules.
func description(m *Message) string {
	var fields []string
	for _, f := range m.Fields {
		fields = append(fields, fmt.Sprintf(`{"name": "%s", "type": {"type_id": %d, "capacity": %d, `+
			`"string_capacity": %d, "nested_type_name": "%s"}}`,
			f.Name, f.Type.ID(), f.Type.Size, f.Type.StringBound, f.Type.Ref))
	}
	return fmt.Sprintf(`{"type_name": "%s", "fields": [%s]}`, m.Name, strings.Join(fields, ", "))
}

// Describe returns a type as rosidl describes it: a message, a service, an action, or what is derived from
// them. A message without fields gets the field that it has on the wire.
func (s *Set) Describe(full string) (*Message, error) {
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
	if s.Action(full) != nil {
		return &Message{Name: full, Fields: []Field{
			nested("goal", full+"_Goal", Single, 0),
			nested("result", full+"_Result", Single, 0),
			nested("feedback", full+"_Feedback", Single, 0),
			nested("send_goal_service", full+"_SendGoal", Single, 0),
			nested("get_result_service", full+"_GetResult", Single, 0),
			nested("feedback_message", full+"_FeedbackMessage", Single, 0),
		}}, nil
	}
	if base, ok := strings.CutSuffix(full, "_Event"); ok && s.Service(base) != nil {
		return &Message{Name: full, Fields: []Field{
			nested("info", "service_msgs/msg/ServiceEventInfo", Single, 0),
			nested("request", base+"_Request", Bounded, 1),
			nested("response", base+"_Response", Bounded, 1),
		}}, nil
	}
	m := s.Message(full)
	if m == nil {
		return nil, fmt.Errorf("%s is not defined", full)
	}
	if len(m.Fields) == 0 {
		m = &Message{Name: full, Doc: m.Doc, Fields: []Field{atLeastOneMember}, Constants: m.Constants, Text: m.Text}
	}
	return m, nil
}
