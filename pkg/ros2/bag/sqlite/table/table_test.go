package table

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

func TestEveryRowIsAMessageOrALoss(t *testing.T) {
	value := rapid.OneOf(
		rapid.Just[driver.Value](nil), rapid.Map(rapid.Int64Range(0, 3), func(v int64) driver.Value { return v }),
		rapid.Map(rapid.Float64(), func(v float64) driver.Value { return v }),
		rapid.Map(rapid.String(), func(v string) driver.Value { return v }),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(v []byte) driver.Value { return v }))
	rapid.Check(t, func(rt *rapid.T) {
		tables := New()
		tables.AddTopic([]driver.Value{int64(1), "/a", "T", "cdr", "", ""})
		v := rapid.SliceOfN(value, 4, 4).Draw(rt, "row")
		var m Message
		ok := tables.Message(v, &m)
		if loss := tables.Loss; ok == loss.Any() || ok && (m.Topic == nil || m.Time != v[2]) {
			rt.Fatalf("%v: %v, %s", v, m, loss.String())
		}
	})
}

// tape makes rows out of fuzzed bytes.
type tape []byte

func (t *tape) take(n int) []byte {
	n = min(n, len(*t))
	out := (*t)[:n:n]
	*t = (*t)[n:]
	return out
}

func (t *tape) byte() byte {
	if b := t.take(1); len(b) > 0 {
		return b[0]
	}
	return 0
}

// value is one of the five types that SQLite has.
func (t *tape) value() driver.Value {
	switch kind := t.byte(); kind % 6 {
	case 0: // small numbers, so that rows meet
		return int64(int8(t.byte()))
	case 1:
		var n [8]byte
		copy(n[:], t.take(8))
		return int64(binary.LittleEndian.Uint64(n[:]))
	case 2:
		return string(t.take(int(t.byte())))
	case 3:
		return t.take(int(t.byte()))
	case 4:
		return float64(t.byte())
	}
	return nil
}

func (t *tape) row(columns int) []driver.Value {
	v := make([]driver.Value, columns)
	for i := range v {
		v[i] = t.value()
	}
	return v
}

// Rows with values of any type are topics, definitions, messages or counted losses. Reading a row again
// gives the same.
func FuzzRows(f *testing.F) {
	f.Add([]byte("\x00\x00\x01\x02\x02/a\x02\x01T\x02\x03cdr\x02\x00\x02\x06RIHS01\x01\x02\x01T\x02\x01m\x02\x04text" +
		"\x02\x00\x05\x00\x01\x01\x08\x07\x06\x05\x04\x03\x02\x01\x03\x04data\x02\x00\x06\x00\x02\x00\x01\x05"))
	f.Add([]byte("\x00\x00\x01\x02\x02/a\x02\x01T\x02\x03cdr" +
		"\x05\x05\x00\x00\x01\x05\x05\x05\x05\x05\x02\x00\x01\x00\x01\x02\x01x\x03\x01x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tables := New()
		lost := map[int64]bool{}
		for in := tape(data); len(in) > 0; {
			switch in.byte() % 3 {
			case 0:
				tables.AddTopic(in.row(6))
			case 1:
				tables.AddDefinition(in.row(3))
			case 2:
				checkRow(t, tables, in.row(4), lost)
			}
		}
		for _, topic := range tables.Topics {
			if tables.byID[topic.ID] != topic {
				t.Fatalf("two topics of ID %d", topic.ID)
			}
		}
		if loss := tables.Loss; loss.Messages != uint64(len(lost)) || len(loss.Notes) > 16 {
			t.Fatalf("%d rows lost, counted are %d with %d notes", len(lost), loss.Messages, len(loss.Notes))
		}
	})
}

// checkRow reads a row of the table messages twice.
func checkRow(t *testing.T, tables *Tables, v []driver.Value, lost map[int64]bool) {
	var m, again Message
	ok := tables.Message(v, &m)
	if ok != tables.Message(v, &again) || m.Topic != again.Topic || m.Time != again.Time ||
		!bytes.Equal(m.Data, again.Data) {
		t.Fatalf("%v is %+v, then %+v", v, m, again)
	}
	row, _ := v[0].(int64)
	id, isID := v[1].(int64)
	time, isTime := v[2].(int64)
	text, isText := v[3].(string)
	blob, isBlob := v[3].([]byte)
	if right := isID && tables.byID[id] != nil && isTime && (isText || isBlob); ok != right {
		t.Fatalf("%v: taken %v", v, ok)
	}
	if !ok {
		lost[row] = true
	} else if m.Topic != tables.byID[id] || m.Row != row || m.Time != time || string(m.Data) != text+string(blob) {
		t.Fatalf("%v became %+v", v, m)
	}
	if _, _, placed := tables.Place(row, v[1], v[2]); ok && !placed {
		t.Fatalf("%v is a message without a place", v)
	}
}
