package node

import (
	"slices"
	"sync"
)

// LogOnce logs each of a few lines once. The zero value has logged none.
type LogOnce struct {
	mu    sync.Mutex
	lines []string
}

// mostLogged is how many lines one logs: who makes up names does not fill the log.
const mostLogged = 20

// First reports whether a line is to be logged: neither it, nor too many others, have been.
func (l *LogOnce) First(line string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) >= mostLogged || slices.Contains(l.lines, line) {
		return false
	}
	l.lines = append(l.lines, line)
	return true
}
