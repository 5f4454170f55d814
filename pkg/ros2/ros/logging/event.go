package logging

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strconv"
	"strings"

	"github.com/rs/zerolog"
)

// event is a message in the queue of the goroutine that writes it.
type event struct {
	time  int64
	level Level
	name  string
	text  []byte // zerolog's JSON
	stack [12]uintptr
	depth int
}

// capture fills an event. A zerolog.LevelWriter must call it.
func (e *event) capture(now int64, level Level, name string, text []byte) {
	e.time, e.level, e.name = now, level, name
	e.text = append(e.text[:0], text...)
	e.depth = runtime.Callers(3, e.stack[:]) // from the caller of WriteLevel on
}

// record is the event with decoded text and the caller's position.
func (e *event) record() record {
	r := record{time: e.time, level: e.level, name: e.name, message: message(e.text)}
	frames := runtime.CallersFrames(e.stack[:e.depth])
	for more := e.depth > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if !strings.HasPrefix(f.Function, "github.com/rs/zerolog.") {
			r.file, r.function, r.line = f.File, f.Function, f.Line
			break
		}
	}
	return r
}

// message is zerolog's message, followed by its other fields as name=value.
func message(text []byte) string {
	fields, ok := decode(text)
	if !ok {
		return string(bytes.TrimSpace(text))
	}
	var texts, rest []string
	for _, f := range fields {
		switch f.name {
		case zerolog.LevelFieldName, zerolog.TimestampFieldName:
		case zerolog.MessageFieldName:
			texts = append(texts, f.value)
		default:
			rest = append(rest, f.name+"="+quotedIfNeeded(f.value))
		}
	}
	return strings.Join(append(texts, rest...), " ")
}

type field struct{ name, value string }

// decode returns an object's fields in order, strings without quotes.
func decode(text []byte) ([]field, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var fields []field
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, false
		}
		value := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil && raw[0] == '"' {
			value = s
		}
		fields = append(fields, field{name.(string), value})
	}
	return fields, true
}

func quotedIfNeeded(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\r\n\"=") && s[0] != '{' && s[0] != '[' {
		return strconv.Quote(s)
	}
	return s
}
