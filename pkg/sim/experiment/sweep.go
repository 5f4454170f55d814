package experiment

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Sweep is one command for every point of a grid.
type Sweep struct {
	File  string
	words []string // of the command, with {names} of the grid
	names []string // the last changes fastest
	grid  [][]string
}

// ReadSweep reads a sweep's file: `command`, a list of words, and `grid`, names with lists of values. Values are text
// as it is written, numbers too.
func ReadSweep(path string) (*Sweep, error) {
	s := &Sweep{File: path}
	doc, err := s.document()
	if err != nil {
		return nil, err
	}
	for key, value := range pairs(doc) {
		switch {
		case key.Value == "command" && s.words == nil:
			s.words, err = s.texts(value, "command")
		case key.Value == "grid" && s.names == nil:
			err = s.readGrid(value)
		default:
			err = s.at(key, "%q, expected command or grid, each once", key.Value)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.words == nil || s.names == nil {
		return nil, s.at(doc, "expected command, a list of words, and grid, names with lists of values")
	}
	return s, nil
}

// document is the file's only one.
func (s *Sweep) document() (*yaml.Node, error) {
	data, err := os.ReadFile(s.File)
	if err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err = d.Decode(&doc); err == io.EOF || err == nil && len(doc.Content) == 0 {
		return nil, fmt.Errorf("%s: empty, expected command and grid", s.File)
	}
	if err == nil {
		if err = d.Decode(&more); err == nil {
			return nil, s.at(&more, "another document, expected one")
		}
	}
	if err != io.EOF {
		return nil, fmt.Errorf("%s: %s", s.File, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return doc.Content[0], nil
}

func (s *Sweep) at(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", s.File, n.Line, fmt.Sprintf(format, args...))
}

// pairs are the keys and values of a mapping, in the order of the file; of anything else none.
func pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// texts are the entries of a list.
func (s *Sweep) texts(n *yaml.Node, what string) ([]string, error) {
	var out []string
	for _, entry := range n.Content {
		if entry.Kind == yaml.ScalarNode {
			out = append(out, entry.Value)
		}
	}
	if n.Kind != yaml.SequenceNode || len(out) == 0 || len(out) < len(n.Content) {
		return nil, s.at(n, "%s: expected a list of words or numbers", what)
	}
	return out, nil
}

// gridName is what may stand in braces.
var gridName = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

func (s *Sweep) readGrid(n *yaml.Node) error {
	for key, value := range pairs(n) {
		if braced := "{" + key.Value + "}"; gridName.FindString(braced) != braced || key.Value == "index" ||
			slices.Contains(s.names, key.Value) {
			return s.at(key, "name %q, expected small letters, digits and underscores, not index, and each once",
				key.Value)
		}
		values, err := s.texts(value, key.Value)
		if err != nil {
			return err
		}
		s.names, s.grid = append(s.names, key.Value), append(s.grid, values)
	}
	if s.names == nil {
		return s.at(n, "grid: expected names with lists of values")
	}
	return nil
}

// maxSweep is the most commands of a sweep.
const maxSweep = 100_000

// Count is how many commands there are; beyond maxSweep it is not exact.
func (s *Sweep) Count() int {
	n := 1
	for _, values := range s.grid {
		n = min(n*len(values), 10*maxSweep)
	}
	return n
}

// Command is the i-th, its names replaced; {index} is i.
func (s *Sweep) Command(i int) []string {
	replace := []string{"{index}", strconv.Itoa(i)}
	for k := len(s.names) - 1; k >= 0; k-- {
		values := s.grid[k]
		replace = append(replace, "{"+s.names[k]+"}", values[i%len(values)])
		i /= len(values)
	}
	r, words := strings.NewReplacer(replace...), make([]string, len(s.words))
	for j, word := range s.words {
		words[j] = r.Replace(word)
	}
	return words
}

// CheckNames refuses names of the command that are not in the grid, names that are not used, and grids that are too
// large.
func (s *Sweep) CheckNames() error {
	used := map[string]bool{}
	for _, word := range s.words {
		for _, m := range gridName.FindAllStringSubmatch(word, -1) {
			if used[m[1]] = true; m[1] != "index" && !slices.Contains(s.names, m[1]) {
				return fmt.Errorf("%s: command has {%s}, which is not in the grid", s.File, m[1])
			}
		}
	}
	for _, name := range s.names {
		if !used[name] {
			return fmt.Errorf("%s: grid has %s, which is not in the command", s.File, name)
		}
	}
	if s.Count() > maxSweep {
		return fmt.Errorf("%s: more than %d commands", s.File, maxSweep)
	}
	return nil
}

// Lines are all commands, as one would type them.
func (s *Sweep) Lines() []string {
	out := make([]string, s.Count())
	for i := range out {
		out[i] = ShellLine(s.Command(i))
	}
	return out
}

// plain are words that a shell leaves alone.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// unprintable are characters that would not stay on one line.
var unprintable = regexp.MustCompile(`[\x00-\x1f\x7f]`)

// ShellLine is a command of vnd as one would type it, on one line.
func ShellLine(words []string) string {
	line := "vnd"
	for _, w := range words {
		switch {
		case unprintable.MatchString(w):
			w = strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(w)
			w = "$'" + unprintable.ReplaceAllStringFunc(w,
				func(c string) string { return fmt.Sprintf(`\%03o`, c[0]) }) + "'"
		case !plain.MatchString(w):
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		line += " " + w
	}
	return line
}
