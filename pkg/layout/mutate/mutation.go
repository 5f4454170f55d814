package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mutation is one breakage: a text of a file that is replaced, and the tests that should notice.
type mutation struct {
	name     string
	file     string   // below the module's folder
	old, new string   // old occurs exactly once in the file
	test     []string // arguments of go test: packages, -run and a pattern
}

// parse reads a list of mutations. Each is a paragraph of the lines name, file, old, new and test, in this order;
// \n and \t in old and new are a new line and a tab. Lines that begin with # are comments.
func parse(list, text string) ([]mutation, error) {
	var all []mutation
	names := map[string]bool{}
	keys := []string{"name", "file", "old", "new", "test"}
	values := make([]string, 0, len(keys))
	for n, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			if len(values) > 0 && !strings.HasPrefix(line, "#") {
				return nil, fmt.Errorf("%s:%d: the paragraph ends before %q", list, n+1, keys[len(values)]+":")
			}
			continue
		}
		value, ok := strings.CutPrefix(line, keys[len(values)]+":")
		if !ok {
			return nil, fmt.Errorf("%s:%d: want %q, got %q", list, n+1, keys[len(values)]+":", line)
		}
		if values = append(values, strings.TrimSpace(value)); len(values) < len(keys) {
			continue
		}
		m := mutation{values[0], values[1], unescape(values[2]), unescape(values[3]), strings.Fields(values[4])}
		if err := m.check(names); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", list, n+1, err)
		}
		all, values = append(all, m), values[:0]
	}
	if len(values) > 0 {
		return nil, fmt.Errorf("%s: ends before %q", list, keys[len(values)]+":")
	}
	return all, nil
}

func (m mutation) check(names map[string]bool) error {
	switch {
	case m.name == "" || m.file == "" || m.old == "" || len(m.test) == 0:
		return errors.New("name, file, old and test must not be empty")
	case names[m.name]:
		return fmt.Errorf("%q is there twice", m.name)
	case m.old == m.new:
		return fmt.Errorf("%q changes nothing", m.name)
	}
	names[m.name] = true
	return nil
}

func unescape(text string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(text)
}

// apply returns the file's text with the mutation in it.
func (m mutation) apply(text string) (string, error) {
	if n := strings.Count(text, m.old); n != 1 {
		return "", fmt.Errorf("%s: %q occurs %d times, want once (mutation %q)", m.file, m.old, n, m.name)
	}
	return strings.Replace(text, m.old, m.new, 1), nil
}

// applicable tells which mutations do not fit the sources below root.
func applicable(root string, all []mutation) error {
	var wrong []error
	for _, m := range all {
		text, err := os.ReadFile(filepath.Join(root, m.file))
		if err == nil {
			_, err = m.apply(string(text))
		}
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}
