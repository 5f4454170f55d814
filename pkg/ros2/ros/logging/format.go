package logging

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// record is one message of the log.
type record struct {
	time           int64 // ns since 1970
	level          Level
	name           string // of the logger
	message        string
	file, function string // of the caller; may be ""
	line           int
}

// defaultFormat is rcutils' own.
const defaultFormat = "[{severity}] [{time}] [{name}]: {message}"

// longestFormat is the length to which rcutils cuts RCUTILS_CONSOLE_OUTPUT_FORMAT, in bytes.
const longestFormat = 2047

// writer appends one part of a line.
type writer func(dst []byte, r *record) []byte

// tokens of RCUTILS_CONSOLE_OUTPUT_FORMAT.
var tokens = map[string]writer{
	"severity":      func(dst []byte, r *record) []byte { return append(dst, r.level.String()...) },
	"name":          func(dst []byte, r *record) []byte { return append(dst, r.name...) },
	"message":       func(dst []byte, r *record) []byte { return append(dst, r.message...) },
	"function_name": func(dst []byte, r *record) []byte { return append(dst, r.function...) },
	"file_name":     func(dst []byte, r *record) []byte { return append(dst, r.file...) },
	"line_number":   func(dst []byte, r *record) []byte { return strconv.AppendInt(dst, int64(r.line), 10) },
	"time": func(dst []byte, r *record) []byte {
		return fmt.Appendf(dst, "%010d.%09d", r.time/1e9, r.time%1e9)
	},
	"time_as_nanoseconds": func(dst []byte, r *record) []byte { return fmt.Appendf(dst, "%019d", r.time) },
	"date_time_with_ms": func(dst []byte, r *record) []byte {
		return time.Unix(0, r.time).AppendFormat(dst, "2006-01-02 15:04:05.000")
	},
}

// escapes that a format may contain as text.
var escapes = strings.NewReplacer(`\a`, "\a", `\b`, "\b", `\n`, "\n", `\r`, "\r", `\t`, "\t", `\x1b`, "\x1b")

// format is a compiled output format.
type format []writer

// newFormat compiles a format; "" is the default. Unknown tokens stay as they are.
func newFormat(text string) format {
	if text == "" {
		text = defaultFormat
	}
	text = escapes.Replace(text[:min(len(text), longestFormat)])
	var f format
	for {
		open := strings.IndexByte(text, '{')
		length := strings.IndexByte(text[max(open, 0):], '}')
		if open < 0 || length < 0 {
			return append(f, literal(text))
		}
		if token, ok := tokens[text[open+1:open+length]]; ok {
			f = append(f, literal(text[:open]), token)
			text = text[open+length+1:]
		} else { // another token may begin within
			f = append(f, literal(text[:open+1]))
			text = text[open+1:]
		}
	}
}

func literal(s string) writer {
	return func(dst []byte, _ *record) []byte { return append(dst, s...) }
}

// appendLine appends a record without a line break.
func (f format) appendLine(dst []byte, r *record) []byte {
	for _, w := range f {
		dst = w(dst, r)
	}
	return dst
}

// colors of a terminal, as rcutils has them.
var colors = map[Level]string{Debug: "\x1b[32m", Info: "\x1b[0m", Warn: "\x1b[33m", Error: "\x1b[31m",
	Fatal: "\x1b[31m"}

const plainColor = "\x1b[0m"
