package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"gopkg.in/yaml.v3"
)

type sweepCommand struct {
	File   string `arg:"" placeholder:"F.yaml" help:"The sweep: a command of vnd and a grid of values for the names in it."`
	Index  *int   `env:"SLURM_ARRAY_TASK_ID,JOB_COMPLETION_INDEX" placeholder:"I" help:"Run the I-th of the grid's commands, from 0."`
	Count  bool   `help:"Print how many commands there are."`
	DryRun bool   `help:"Print all commands, and run none."`
}

// sweep is one command for every point of a grid.
type sweep struct {
	file  string
	words []string // of the command, with {names} of the grid
	names []string // the last changes fastest
	grid  [][]string
}

// Run implements `vnd sweep`.
func (s *sweepCommand) Run(c *console) error {
	sw, err := readSweep(s.File)
	if err != nil {
		return err
	}
	if err := sw.check(); err != nil {
		return err
	}
	switch {
	case s.Count:
		return c.show(&sweepResult{Count: sw.count()})
	case s.DryRun:
		return c.show(&sweepResult{Count: sw.count(), Commands: sw.lines()})
	case s.Index == nil:
		return errors.New("expected --index, --count or --dry-run; the environment has neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX")
	case *s.Index < 0 || *s.Index >= sw.count():
		return fmt.Errorf("--index %d: %s has %d commands, expected 0 … %d", *s.Index, s.File, sw.count(), sw.count()-1)
	}
	words := sw.command(*s.Index)
	c.log.Info().Msgf("%d of %d: %s", *s.Index, sw.count(), shellLine(words))
	if c.json {
		words = slices.Insert(words, 0, "--json") // in front of a -- of the command
	}
	c.printed = true // by the command
	if Run(c.ctx, words, c.stdout, c.voice) != 0 {
		return errSaid
	}
	return nil
}

// sweepResult is what a sweep consists of.
type sweepResult struct {
	Count    int      `json:"count"`
	Commands []string `json:"commands,omitempty"` // lines for a shell
}

// WriteText implements result.
func (s *sweepResult) WriteText(w io.Writer) error {
	if s.Commands == nil {
		_, err := fmt.Fprintln(w, s.Count)
		return err
	}
	_, err := fmt.Fprintln(w, strings.Join(s.Commands, "\n"))
	return err
}

// readSweep reads a sweep's file: `command`, a list of words, and `grid`, names with lists of values. Values are text
// as it is written, numbers too.
func readSweep(path string) (*sweep, error) {
	s := &sweep{file: path}
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
func (s *sweep) document() (*yaml.Node, error) {
	data, err := os.ReadFile(s.file)
	if err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err = d.Decode(&doc); err == io.EOF || err == nil && len(doc.Content) == 0 {
		return nil, fmt.Errorf("%s: empty, expected command and grid", s.file)
	}
	if err == nil {
		if err = d.Decode(&more); err == nil {
			return nil, s.at(&more, "another document, expected one")
		}
	}
	if err != io.EOF {
		return nil, fmt.Errorf("%s: %s", s.file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return doc.Content[0], nil
}

func (s *sweep) at(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", s.file, n.Line, fmt.Sprintf(format, args...))
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
func (s *sweep) texts(n *yaml.Node, what string) ([]string, error) {
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

func (s *sweep) readGrid(n *yaml.Node) error {
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

// count is how many commands there are; beyond maxSweep it is not exact.
func (s *sweep) count() int {
	n := 1
	for _, values := range s.grid {
		n = min(n*len(values), 10*maxSweep)
	}
	return n
}

// command is the i-th, its names replaced; {index} is i.
func (s *sweep) command(i int) []string {
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

// check refuses a sweep that would fail, or spoil its own results, in the middle of the night: names that are not
// there or not used, words that are no command, and two commands with one output.
func (s *sweep) check() error {
	used := map[string]bool{}
	for _, word := range s.words {
		for _, m := range gridName.FindAllStringSubmatch(word, -1) {
			if used[m[1]] = true; m[1] != "index" && !slices.Contains(s.names, m[1]) {
				return fmt.Errorf("%s: command has {%s}, which is not in the grid", s.file, m[1])
			}
		}
	}
	for _, name := range s.names {
		if !used[name] {
			return fmt.Errorf("%s: grid has %s, which is not in the command", s.file, name)
		}
	}
	if s.count() > maxSweep {
		return fmt.Errorf("%s: more than %d commands", s.file, maxSweep)
	}
	parser, err := newParser(&commands{}, kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		return err
	}
	outputs := map[string]int{}
	for i := range s.count() {
		words := s.command(i)
		parsed, err := parser.Parse(words)
		if err != nil {
			return fmt.Errorf("%s: command %d, %s: %w", s.file, i, shellLine(words), err)
		}
		if strings.HasPrefix(parsed.Command(), "sweep ") {
			return fmt.Errorf("%s: the command of a sweep is a sweep", s.file)
		}
		out := outputOf(parsed)
		if before, there := outputs[out]; there && out != "" {
			return fmt.Errorf("%s: commands %d and %d both write %s: expected all names of the grid, or {index}, in --out", s.file, before, i, out)
		}
		outputs[out] = i
	}
	return nil
}

// outputOf is the file or folder that a command writes, its Out, "" if it names none.
func outputOf(parsed *kong.Context) string {
	command := parsed.Selected()
	if command == nil { // --help alone
		return ""
	}
	out := reflect.Indirect(command.Target).FieldByName("Out")
	if !out.IsValid() || out.String() == "" {
		return ""
	}
	return filepath.Clean(out.String())
}

func (s *sweep) lines() []string {
	out := make([]string, s.count())
	for i := range out {
		out[i] = shellLine(s.command(i))
	}
	return out
}

// plain are words that a shell leaves alone.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// unprintable are characters that would not stay on one line.
var unprintable = regexp.MustCompile(`[\x00-\x1f\x7f]`)

// shellLine is a command of vnd as one would type it, on one line.
func shellLine(words []string) string {
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
