package msggen

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// parseDefault parses a field's default: a value, or a list in brackets.
func parseDefault(t Type, s string) (any, error) {
	if t.Base == Nested {
		return nil, fmt.Errorf("%q, expected none: only primitives have defaults", s)
	}
	if t.Array == Single {
		return parseValue(t, s)
	}
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return nil, fmt.Errorf("%q, expected a list in brackets", s)
	}
	items, err := splitList(s[1 : len(s)-1])
	if err != nil {
		return nil, err
	}
	if t.Array == Fixed && len(items) != t.Size || t.Array == Bounded && len(items) > t.Size {
		return nil, fmt.Errorf("%d values, expected %s%d", len(items), map[Array]string{Bounded: "at most "}[t.Array],
			t.Size)
	}
	values := make([]any, len(items))
	for i, item := range items {
		if values[i], err = parseValue(t, item); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// splitList cuts at commas outside quotes.
func splitList(s string) ([]string, error) {
	var items []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		end := strings.IndexByte(s, ',')
		if s[0] == '"' || s[0] == '\'' {
			closing := closingQuote(s)
			if closing < 0 {
				return nil, fmt.Errorf("%s, expected a closing %c", s, s[0])
			}
			rest := strings.TrimLeft(s[closing+1:], " \t")
			if rest != "" && rest[0] != ',' {
				return nil, fmt.Errorf("%s, expected a comma", rest)
			}
			end = len(s) - len(rest)
		}
		if end < 0 || end == len(s) {
			return append(items, strings.TrimSpace(s)), nil
		}
		items = append(items, strings.TrimSpace(s[:end]))
		s = s[end+1:]
	}
	return items, nil
}

// closingQuote is the index of the quote that closes the one at s[0], -1 when there is none.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i
		}
	}
	return -1
}

// parseValue parses one value as rosidl_adapter does: integers in decimal or with 0x, booleans as
// true, false, 1 or 0, strings with quotes or without.
func parseValue(t Type, s string) (any, error) {
	switch t.Base {
	case Bool:
		switch strings.ToLower(s) {
		case "true", "1":
			return true, nil
		case "false", "0":
			return false, nil
		}
		return nil, fmt.Errorf("%q, expected true or false", s)
	case Float32, Float64:
		return parseFloat(t.Base, s)
	case String, WString:
		return parseString(t, s)
	default:
		return parseInteger(t.Base, s)
	}
}

func parseFloat(base Base, s string) (any, error) {
	bits := 64
	if base == Float32 {
		bits = 32
	}
	v, err := strconv.ParseFloat(s, bits)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("%q, expected a finite number of %d bits", s, bits)
	}
	return v, nil
}

func parseInteger(base Base, s string) (any, error) {
	radix, digits := 10, strings.TrimPrefix(s, "+")
	if bare := strings.TrimPrefix(digits, "-"); len(bare) > 2 && bare[0] == '0' && (bare[1] == 'x' || bare[1] == 'X') {
		radix = 0
	}
	width := 8 * primitives[base].size
	switch base {
	case Int8, Int16, Int32, Int64:
		v, err := strconv.ParseInt(digits, radix, width)
		if err != nil {
			return nil, fmt.Errorf("%q, expected a signed integer of %d bits", s, width)
		}
		return v, nil
	default:
		v, err := strconv.ParseUint(digits, radix, width)
		if err != nil {
			return nil, fmt.Errorf("%q, expected an unsigned integer of %d bits", s, width)
		}
		return v, nil
	}
}

func parseString(t Type, s string) (any, error) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		end := closingQuote(s)
		if end < 0 || strings.TrimSpace(s[end+1:]) != "" {
			return nil, fmt.Errorf("%s, expected one string that ends with its closing %c", s, s[0])
		}
		s = unescape(s[1:end], s[0])
	}
	n := len(s)
	if t.Base == WString {
		n = len(utf16.Encode([]rune(s)))
	}
	if t.StringBound > 0 && n > t.StringBound {
		return nil, fmt.Errorf("%q has length %d, expected at most %d", s, n, t.StringBound)
	}
	return s, nil
}

// unescape resolves the only escape of the format: that of the quote. Other backslashes stay.
func unescape(s string, quote byte) string {
	return strings.ReplaceAll(s, `\`+string(quote), string(quote))
}
