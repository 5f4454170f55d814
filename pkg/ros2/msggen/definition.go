package msggen

import (
	"fmt"
	"strings"
)

// separator is the line between definitions in MCAP's "ros2msg" encoding.
var separator = strings.Repeat("=", 80)

// Definition is the "ros2msg" text of a message: its source, then the sources of all types that it
// refers to. Each of them follows a line of 80 "=" and a line "MSG: package/Name".
func (s *Set) Definition(full string) (string, error) {
	m := s.Message(full)
	if m == nil {
		return "", fmt.Errorf("%s is not defined", full)
	}
	refs, err := s.References(full)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(m.Text)
	for _, ref := range refs {
		if text := b.String(); text != "" && !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\nMSG: %s\n%s", separator, strings.Replace(ref, "/msg/", "/", 1), s.Message(ref).Text)
	}
	return b.String(), nil
}

// ParseDefinition parses the "ros2msg" text of the message full, as bags have it. Errors name file and
// line. The set's Hash(full) identifies the definition.
func ParseDefinition(file, full, text string) (*Set, error) {
	set := NewSet(nil)
	name, first := full, 0
	lines := strings.Split(text, "\n")
	for i := 0; i <= len(lines); i++ {
		if i < len(lines) && strings.TrimRight(lines[i], "\r") != separator {
			continue
		}
		p := parser{file: file, line: first, msg: &Message{Name: name, Text: strings.Join(lines[first:i], "\n")}}
		if err := p.parse(lines[first:i]); err != nil {
			return nil, err
		}
		set.Add(p.msg)
		if i == len(lines) {
			break
		}
		next, err := parseSeparated(file, lines, i)
		if err != nil {
			return nil, err
		}
		name, first = next, i+2
		i++
	}
	if _, err := set.References(full); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return set, nil
}

// parseSeparated reads the type's name from the line after separator line i.
func parseSeparated(file string, lines []string, i int) (string, error) {
	if i+1 < len(lines) {
		ref, ok := strings.CutPrefix(strings.TrimSpace(lines[i+1]), "MSG: ")
		if strings.Count(ref, "/") == 1 {
			ref = strings.Replace(ref, "/", "/msg/", 1)
		}
		if _, _, _, err := SplitName(ref); ok && err == nil {
			return ref, nil
		}
	}
	return "", fmt.Errorf("%s:%d: expected \"MSG: package/Name\" after the separator", file, i+2)
}
