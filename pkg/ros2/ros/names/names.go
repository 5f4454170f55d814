// Package names checks, expands and remaps ROS 2 names. The rules and the error texts are
// those of rcl and rmw.
//
// A full name is absolute: "/quad/step". A name in a program may be relative
// ("step"), private ("~/step") or hold the substitutions {node}, {ns} and
// {namespace}.
package names

import (
	"fmt"
	"strings"
)

// Longest names in bytes, as in rmw.
const (
	longestNode      = 255
	longestTopic     = 255 - 8 // 8 for the prefixes of DDS topics
	longestNamespace = longestTopic - 2
	longestEnclave   = 255
)

// Error is an invalid name.
type Error struct {
	Name string
	At   int // index of the invalid byte
	Why  string
}

func (e *Error) Error() string {
	return fmt.Sprintf("invalid name %s at position %d: %s", quoted(e.Name), e.At, e.Why)
}

// quoted shortens a long name.
func quoted(name string) string {
	if len(name) > 300 {
		return fmt.Sprintf("%.300q…", name)
	}
	return fmt.Sprintf("%q", name)
}

// CheckNode checks a node's name: one token.
func CheckNode(name string) error {
	at := strings.IndexFunc(name, func(r rune) bool { return !isWord(r) })
	switch {
	case name == "":
		return &Error{name, 0, "node name must not be empty"}
	case at >= 0:
		return &Error{name, at, "node name must not contain characters other than alphanumerics or '_'"}
	case isDigit(name[0]):
		return &Error{name, 0, "node name must not start with a number"}
	case len(name) > longestNode:
		return &Error{name, longestNode - 1, fmt.Sprintf("node name length should not exceed %d", longestNode)}
	}
	return nil
}

// CheckTopic checks the full name of a topic or service.
func CheckTopic(name string) error { return checkFull(name, "topic name", longestTopic) }

// CheckNamespace checks a full namespace: "/", or a name like that of a topic.
func CheckNamespace(namespace string) error {
	if namespace == "/" {
		return nil
	}
	return checkFull(namespace, "namespace", longestNamespace)
}

// Namespace is the full namespace that a person gave, with or without slashes around it.
func Namespace(given string) (string, error) {
	full := "/" + strings.Trim(given, "/")
	if err := CheckNamespace(full); err != nil {
		return "", fmt.Errorf("namespace %.60q: %w", given, err)
	}
	return full, nil
}

// CheckEnclave checks the name of a security enclave.
func CheckEnclave(name string) error {
	if name == "/" {
		return nil
	}
	return checkFull(name, "enclave name", longestEnclave)
}

// checkFull returns the first error of an absolute name, in rmw's order.
func checkFull(name, what string, longest int) error {
	at := strings.IndexFunc(name, func(r rune) bool { return !isWord(r) && r != '/' })
	switch {
	case name == "":
		return &Error{name, 0, what + " must not be empty"}
	case name[0] != '/':
		return &Error{name, 0, what + " must be absolute, it must lead with a '/'"}
	case name[len(name)-1] == '/':
		return &Error{name, len(name) - 1, what + " must not end with a '/'"}
	case at >= 0:
		return &Error{name, at, what + " must not contain characters other than alphanumerics, '_', or '/'"}
	}
	for i := 1; i < len(name); i++ {
		switch {
		case name[i-1] != '/':
		case name[i] == '/':
			return &Error{name, i, what + " must not contain repeated '/'"}
		case isDigit(name[i]):
			return &Error{name, i, what + " must not have a token that starts with a number"}
		}
	}
	if len(name) > longest {
		return &Error{name, longest - 1, fmt.Sprintf("%s should not exceed %d characters", what, longest)}
	}
	return nil
}

// CheckRelative checks a name as in programs, with ~ and substitutions.
func CheckRelative(name string) error {
	switch {
	case name == "":
		return &Error{name, 0, "topic name must not be empty string"}
	case isDigit(name[0]):
		return &Error{name, 0, "topic name token must not start with a number"}
	case name[len(name)-1] == '/':
		return &Error{name, len(name) - 1, "topic name must not end with a forward slash"}
	}
	if err := checkCharacters(name); err != nil {
		return err
	}
	for i := 1; i < len(name); i++ {
		switch {
		case name[i-1] == '/' && isDigit(name[i]):
			return &Error{name, i, "topic name token must not start with a number"}
		case i == 1 && name[0] == '~' && name[1] != '/':
			return &Error{name, 1, "topic name must not have a tilde '~' that is not followed by a forward slash '/'"}
		}
	}
	return nil
}

// checkCharacters checks each character and the braces of substitutions.
func checkCharacters(name string) error {
	open := -1 // index of the open brace
	for i, r := range name {
		why := ""
		switch {
		case open == i-1 && open >= 0 && r < 0x80 && isDigit(byte(r)):
			why = "substitution name must not start with a number"
		case isWord(r):
		case open >= 0 && r != '}' && r != '~':
			why = "substitution name must not contain characters other than alphanumerics or '_'"
		case r == '~' && i != 0:
			why = "topic name must not have tilde '~' unless it is the first character"
		case r == '{':
			open = i
		case r == '}' && open < 0:
			why = "topic name must not have unmatched (unbalanced) curly braces '{}'"
		case r == '}':
			open = -1
		case r != '/' && r != '~':
			why = "topic name must not contain characters other than alphanumerics, '_', '~', '{', or '}'"
		}
		if why != "" {
			return &Error{name, i, why}
		}
	}
	if open >= 0 {
		return &Error{name, open, "topic name must not have unmatched (unbalanced) curly braces '{}'"}
	}
	return nil
}

func isWord(r rune) bool {
	return r == '_' || r < 0x80 && (isDigit(byte(r)) || isLetter(byte(r)))
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
