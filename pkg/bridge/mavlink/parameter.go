package mavlink

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Parameter is one of a firmware.
type Parameter struct {
	Name  string
	Value float64
}

// names are those of parameters. They stand in a firmware's startup script.
var names = regexp.MustCompile(`^[A-Z0-9_]{1,16}$`)

// ParseParameter reads NAME=VALUE.
func ParseParameter(text string) (Parameter, error) {
	name, value, _ := strings.Cut(text, "=")
	x, err := strconv.ParseFloat(value, 64)
	if !names.MatchString(name) || err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return Parameter{}, fmt.Errorf("parameter %q, expected NAME=VALUE: capitals, digits and _, at most 16, and a "+
			"number", text)
	}
	return Parameter{name, x}, nil
}

// Setting is what a parameter is set to.
type Setting struct {
	Value   float64
	Integer bool
}

const (
	px4    = 12 // MAV_AUTOPILOT_PX4
	real32 = 9  // MAV_PARAM_TYPE_REAL32
)

// setting reads a value. PX4 sends the bytes of an integer in place of the number.
func (m *ParamValue) setting(bytes bool) Setting {
	s := Setting{float64(m.Value), m.Type != real32}
	if s.Integer && bytes {
		s.Value = float64(int32(math.Float32bits(m.Value)))
	}
	return s
}
