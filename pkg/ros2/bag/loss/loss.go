// Package loss counts what cannot be read of a damaged or cut-off bag.
package loss

import (
	"fmt"
	"strings"
)

// maxNotes bounds the notes, so that a badly damaged disk does not fill the
// memory with them.
const maxNotes = 16

// Loss counts what could not be read. The zero value is no loss.
type Loss struct {
	// Messages counts messages that an index, a row number or a record header
	// names but that cannot be read. Messages that a killed recorder had only in
	// memory are not among them.
	Messages uint64 `json:"messages"`
	// Chunks counts damaged MCAP chunks and damaged ranges of SQLite rows.
	Chunks uint64 `json:"chunks"`
	// Bytes counts record bytes (uncompressed, where that is known) that are
	// missing or unreadable.
	Bytes uint64 `json:"bytes"`
	// Truncated is true when a file ends before its end mark.
	Truncated bool `json:"truncated"`
	// Notes describe the first 16 losses, one line each.
	Notes []string `json:"notes,omitempty"`
}

// Any reports whether anything was lost or cut off.
func (l *Loss) Any() bool {
	return l.Messages > 0 || l.Chunks > 0 || l.Bytes > 0 || l.Truncated
}

// Note adds one line about where and why something was lost.
func (l *Loss) Note(format string, args ...any) {
	if len(l.Notes) < maxNotes {
		l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
	}
}

// Add adds another file's loss, with prefix before each of its notes.
func (l *Loss) Add(o Loss, prefix string) {
	l.Messages += o.Messages
	l.Chunks += o.Chunks
	l.Bytes += o.Bytes
	l.Truncated = l.Truncated || o.Truncated
	for _, n := range o.Notes {
		l.Note("%s%s", prefix, n)
	}
}

// String is one line for people: "lost 3 messages, 1 damaged range, 1024 bytes; cut off before its end".
func (l *Loss) String() string {
	if !l.Any() {
		return "nothing lost"
	}
	var parts []string
	for _, p := range []struct {
		n    uint64
		unit string
	}{{l.Messages, "message"}, {l.Chunks, "damaged range"}, {l.Bytes, "byte"}} {
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.unit))
		}
	}
	s := "no complete message lost"
	if len(parts) > 0 {
		s = "lost " + strings.Join(parts, ", ")
	}
	if l.Truncated {
		s += "; cut off before its end"
	}
	return s
}

func plural(n uint64, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
