package logging

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	rclinterfaces "vnd/msgs/rcl_interfaces"
)

// Levels are the levels of all loggers of a process. They may change at any time. A logger's
// name is dotted, "quad.fit.encoder". Without a level of its own it has that of its nearest
// parent with one, or else the default, Info.
type Levels struct {
	mu       sync.Mutex
	fallback Level
	own      map[string]Level
	inUse    map[string]*threshold
}

func newLevels() *Levels {
	return &Levels{fallback: Info, own: map[string]Level{}, inUse: map[string]*threshold{}}
}

// threshold is the effective level of a logger in use. zerolog calls it before it makes an
// event.
type threshold struct{ level atomic.Uint32 }

// Sample implements zerolog.Sampler.
func (t *threshold) Sample(l zerolog.Level) bool { return uint32(levelOf(l)) >= t.level.Load() }

// Set sets a logger's level; Unset removes it. The logger "" is the default of all loggers.
func (l *Levels) Set(logger string, level Level) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case logger == "" && level == Unset:
		l.fallback = Info
	case logger == "":
		l.fallback = level
	case level == Unset:
		delete(l.own, logger)
	default:
		l.own[logger] = level
	}
	for name, t := range l.inUse {
		t.level.Store(uint32(l.effective(name)))
	}
}

// Of returns the level that was set for the logger itself.
func (l *Levels) Of(logger string) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	if logger == "" {
		return l.fallback
	}
	return l.own[logger]
}

// Effective returns the lowest level of a logger's messages that are logged.
func (l *Levels) Effective(logger string) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.effective(logger)
}

func (l *Levels) effective(logger string) Level {
	for {
		if level, ok := l.own[logger]; ok {
			return level
		}
		dot := strings.LastIndexByte(logger, '.')
		if dot < 0 {
			return l.fallback
		}
		logger = logger[:dot]
	}
}

func (l *Levels) threshold(logger string) *threshold {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.inUse[logger]
	if t == nil {
		t = new(threshold)
		t.level.Store(uint32(l.effective(logger)))
		l.inUse[logger] = t
	}
	return t
}

// GetLoggerLevels is the service ~/get_logger_levels.
func (l *Levels) GetLoggerLevels(q *rclinterfaces.GetLoggerLevelsRequest, r *rclinterfaces.GetLoggerLevelsResponse) {
	r.Levels = r.Levels[:0]
	for _, name := range q.Names {
		r.Levels = append(r.Levels, rclinterfaces.LoggerLevel{Name: name, Level: uint32(l.Of(name))})
	}
}

// SetLoggerLevels is the service ~/set_logger_levels.
func (l *Levels) SetLoggerLevels(q *rclinterfaces.SetLoggerLevelsRequest, r *rclinterfaces.SetLoggerLevelsResponse) {
	r.Results = r.Results[:0]
	for _, s := range q.Levels {
		result := rclinterfaces.SetLoggerLevelsResult{Successful: true}
		if _, ok := levelNames[Level(s.Level)]; !ok || s.Level > uint32(Fatal) {
			result = rclinterfaces.SetLoggerLevelsResult{Reason: fmt.Sprintf(
				"Invalid severity level specified for logger named '%s': %d, expected 0, 10, 20, 30, 40 or 50", s.Name,
				s.Level)}
		} else {
			l.Set(s.Name, Level(s.Level))
		}
		r.Results = append(r.Results, result)
	}
}
