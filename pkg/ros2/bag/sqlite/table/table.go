// Package table decodes the rows of rosbag2's SQLite tables, whatever their
// values: SQLite does not enforce the types of columns.
//
// It does not use SQL, so that fuzzing it is fast.
package table

import (
	"database/sql/driver"

	"vnd/pkg/ros2/bag/loss"
)

// Topic is a row of the table topics, with its type's definition.
type Topic struct {
	ID         int64
	Name, Type string
	Format     string // of the messages: "cdr"
	QoS        string // YAML text, from schema version 2 on
	TypeHash   string // from schema version 4 on
	Definition string // text, from schema version 4 on
	Encoding   string // of the definition: "ros2msg", "ros2idl"
}

// Message is a row of the table messages.
type Message struct {
	Topic *Topic
	Row   int64
	Time  int64  // ns since the epoch: when it was recorded
	Data  []byte // of the row, not a copy
}

// Tables holds one file's topics. Rows that cannot be decoded are counted in Loss,
// each once.
type Tables struct {
	Topics []*Topic // in the order they were added
	Loss   loss.Loss

	byID map[int64]*Topic
	bad  map[int64]bool // rows counted as lost
}

// New returns tables without topics.
func New() *Tables { return &Tables{byID: map[int64]*Topic{}, bad: map[int64]bool{}} }

// Text is a TEXT or BLOB column's value; any other is "".
func Text(v driver.Value) string {
	switch s := v.(type) {
	case string:
		return s
	case []byte:
		return string(s)
	}
	return ""
}

// AddTopic adds a row of the table topics: id, name, type, format, QoS, hash.
func (t *Tables) AddTopic(v []driver.Value) {
	id, ok := v[0].(int64)
	if !ok || t.byID[id] != nil {
		return
	}
	topic := &Topic{ID: id, Name: Text(v[1]), Type: Text(v[2]), Format: Text(v[3]), QoS: Text(v[4]),
		TypeHash: Text(v[5])}
	t.Topics = append(t.Topics, topic)
	t.byID[id] = topic
}

// AddDefinition adds a row of the table message_definitions to its topics: type,
// encoding, text.
func (t *Tables) AddDefinition(v []driver.Value) {
	for _, topic := range t.Topics {
		if topic.Type == Text(v[0]) && topic.Definition == "" {
			topic.Encoding, topic.Definition = Text(v[1]), Text(v[2])
		}
	}
}

// Message decodes a row of the table messages: row number, topic, time, data.
func (t *Tables) Message(v []driver.Value, m *Message) bool {
	row, _ := v[0].(int64)
	topic, time, ok := t.Place(row, v[1], v[2])
	if !ok {
		return false
	}
	var data []byte
	switch d := v[3].(type) {
	case []byte:
		data = d
	case string:
		data = []byte(d)
	default:
		t.Lose(row, "data of the wrong type")
		return false
	}
	*m = Message{Topic: topic, Row: row, Time: time, Data: data}
	return true
}

// Place decodes the topic and the time of a row. Without either the row is lost.
func (t *Tables) Place(row int64, id, at driver.Value) (topic *Topic, time int64, ok bool) {
	n, isID := id.(int64)
	time, isTime := at.(int64)
	topic = t.byID[n]
	switch {
	case !isID || topic == nil:
		t.Lose(row, "no known topic")
	case !isTime:
		t.Lose(row, "a time of the wrong type")
	default:
		return topic, time, true
	}
	return nil, 0, false
}

// Lose counts a row once.
func (t *Tables) Lose(row int64, what string) {
	if t.bad[row] {
		return
	}
	t.bad[row] = true
	t.Loss.Messages++
	t.Loss.Note("row %d: %s", row, what)
}
