package logging

import (
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	rclinterfaces "vnd/msgs/rcl_interfaces"
)

// Level is a severity, numbered as in rcl_interfaces/msg/Log.
type Level uint8

// Levels. A logger whose level is Unset has that of its parent.
const (
	Unset Level = Level(rclinterfaces.LoggerLevelLogLevelUnknown)
	Debug Level = Level(rclinterfaces.LogDebug)
	Info  Level = Level(rclinterfaces.LogInfo)
	Warn  Level = Level(rclinterfaces.LogWarn)
	Error Level = Level(rclinterfaces.LogError)
	Fatal Level = Level(rclinterfaces.LogFatal)
)

var levelNames = map[Level]string{
	Unset: "UNSET", Debug: "DEBUG", Info: "INFO", Warn: "WARN", Error: "ERROR", Fatal: "FATAL",
}

func (l Level) String() string {
	if name, ok := levelNames[l]; ok {
		return name
	}
	return fmt.Sprintf("level %d", uint8(l))
}

// ParseLevel reads a level's name in any case.
func ParseLevel(name string) (Level, error) {
	for l, n := range levelNames {
		if strings.EqualFold(n, name) {
			return l, nil
		}
	}
	return Unset, fmt.Errorf("%.40q is not a log level, expected debug, info, warn, error, fatal or unset", name)
}

// levelOf maps zerolog's levels; a message without one is information.
func levelOf(l zerolog.Level) Level {
	switch l {
	case zerolog.TraceLevel, zerolog.DebugLevel:
		return Debug
	case zerolog.WarnLevel:
		return Warn
	case zerolog.ErrorLevel:
		return Error
	case zerolog.FatalLevel, zerolog.PanicLevel:
		return Fatal
	}
	return Info
}

// Setting is the level of a logger.
type Setting struct {
	Logger string
	Level  Level
}
