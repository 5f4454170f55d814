// Package loss counts what a damaged or cut-off bag no longer gives back.
package loss

import (
	"fmt"
	"strings"
)

// maxNotes bounds the remembered lines: a disk full of bad sectors must not
// fill the memory with complaints.
const maxNotes = 16

// Loss says what could not be read. The zero value means: nothing was lost.
type Loss struct {
	// Messages counts messages that an index, a row number or a record header
	// names but that cannot be read. What a recorder still held in memory when
	// it was killed left no trace and is not in it.
	Messages uint64 `json:"messages"`
	// Chunks counts damaged MCAP chunks and damaged stretches of SQLite rows.
	Chunks uint64 `json:"chunks"`
	// Bytes counts record bytes (uncompressed, where that is known) that are
	// missing or unreadable.
	Bytes uint64 `json:"bytes"`
	// Truncated is true when a file stops before its end mark.
	Truncated bool `json:"truncated"`
	// Notes are the first 16 findings, one line each.
	Notes []string `json:"notes,omitempty"`
}

// Any reports whether anything was lost or cut off.
func (l *Loss) Any() bool {
	return l.Messages > 0 || l.Chunks > 0 || l.Bytes > 0 || l.Truncated
}

// Note remembers one line about where and why something was lost.
func (l *Loss) Note(format string, args ...any) {
	if len(l.Notes) < maxNotes {
		l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
	}
}

// Add adds the losses of another file; its notes get prefix in front.
func (l *Loss) Add(o Loss, prefix string) {
	l.Messages += o.Messages
	l.Chunks += o.Chunks
	l.Bytes += o.Bytes
	l.Truncated = l.Truncated || o.Truncated
	for _, n := range o.Notes {
		l.Note("%s%s", prefix, n)
	}
}

// String is one line for people: "3 messages, 1 damaged stretch, 1024 bytes; cut off".
func (l *Loss) String() string {
	if !l.Any() {
		return "nothing lost"
	}
	var parts []string
	for _, p := range []struct {
		n    uint64
		unit string
	}{{l.Messages, "message"}, {l.Chunks, "damaged stretch"}, {l.Bytes, "byte"}} {
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.unit))
		}
	}
	s := "nothing whole lost"
	if len(parts) > 0 {
		s = "lost " + strings.Join(parts, ", ")
	}
	if l.Truncated {
		s += "; cut off before its end"
	}
	return s
}

func plural(n uint64, unit string) string {
	switch {
	case n == 1:
		return "1 " + unit
	case strings.HasSuffix(unit, "ch"):
		return fmt.Sprintf("%d %ses", n, unit)
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
