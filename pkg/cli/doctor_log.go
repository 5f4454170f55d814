package cli

import (
	"vnd/pkg/bridge/logs"
	"vnd/pkg/node/doctor"
)

// logged is a look at the log of an autopilot, before a fit.
type logged struct {
	Log string `placeholder:"LOG" help:"Say what is wrong with this log of an autopilot before a fit."`
	logFlags
}

// examineLog says what is wrong with a log.
func (l *logged) examineLog(c *console) error {
	log, err := l.read(l.Log)
	if err != nil {
		return err
	}
	var all []doctor.Check
	for _, f := range log.Check(l.delta()) {
		all = append(all, check(f.Name, states[f.State], f.Detail, f.Cost))
	}
	for _, note := range log.Notes {
		all = append(all, check("note", doctor.OK, note, ""))
	}
	return diagnosed(c, all)
}

// states are the doctor's words for those of a log.
var states = map[string]string{logs.Good: doctor.OK, logs.Missing: doctor.Missing, logs.Wrong: doctor.Wrong}
