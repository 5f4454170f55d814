package diagnostics

import (
	"fmt"

	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
)

// Level of a status, numbered as in diagnostic_msgs/msg/DiagnosticStatus.
type Level uint8

// Levels.
const (
	OK    = Level(diagnosticmsgs.DiagnosticStatusOk)
	Warn  = Level(diagnosticmsgs.DiagnosticStatusWarn)
	Error = Level(diagnosticmsgs.DiagnosticStatusError)
	Stale = Level(diagnosticmsgs.DiagnosticStatusStale)
)

// Status is the report of a task.
type Status struct {
	level   Level
	message string
	values  []diagnosticmsgs.KeyValue
}

// Summary sets the level and the message.
func (s *Status) Summary(l Level, format string, args ...any) {
	s.level, s.message = l, fmt.Sprintf(format, args...)
}

// Merge adds a finding. The level is the worst so far, and the messages of all findings
// that are not OK are kept.
func (s *Status) Merge(l Level, format string, args ...any) {
	m := fmt.Sprintf(format, args...)
	switch {
	case l > OK && s.level > OK && s.message != "":
		s.message += "; " + m
	case l > s.level || s.message == "":
		s.message = m
	}
	s.level = max(s.level, l)
}

// Add reports a value.
func (s *Status) Add(key string, value any) {
	s.values = append(s.values, diagnosticmsgs.KeyValue{Key: key, Value: fmt.Sprint(value)})
}

// Addf reports a formatted value.
func (s *Status) Addf(key, format string, args ...any) { s.Add(key, fmt.Sprintf(format, args...)) }
