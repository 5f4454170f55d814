package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"vnd/pkg/sim/experiment"
)

type sweepCommand struct {
	File   string `arg:"" placeholder:"F.yaml" help:"The sweep: a command of vnd and a grid of values for the names in it."`
	Index  *int   `env:"SLURM_ARRAY_TASK_ID,JOB_COMPLETION_INDEX" placeholder:"I" help:"Run the I-th of the grid's commands, from 0."`
	Count  bool   `help:"Print how many commands there are."`
	DryRun bool   `help:"Print all commands, and run none."`
}

// Run implements `vnd sweep`.
func (s *sweepCommand) Run(c *console) error {
	sw, err := experiment.ReadSweep(s.File)
	if err != nil {
		return err
	}
	if err := checkSweep(sw); err != nil {
		return err
	}
	switch {
	case s.Count:
		return c.show(&sweepResult{Count: sw.Count()})
	case s.DryRun:
		return c.show(&sweepResult{Count: sw.Count(), Commands: sw.Lines()})
	case s.Index == nil:
		return errors.New("expected --index, --count or --dry-run; the environment has neither " +
			"SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX")
	case *s.Index < 0 || *s.Index >= sw.Count():
		return fmt.Errorf("--index %d: %s has %d commands, expected 0 … %d", *s.Index, s.File, sw.Count(), sw.Count()-1)
	}
	words := sw.Command(*s.Index)
	c.log.Info().Msgf("%d of %d: %s", *s.Index, sw.Count(), experiment.ShellLine(words))
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

// checkSweep refuses a sweep that would fail, or spoil its own results, in the middle of the night: names that are not
// there or not used, words that are no command, and two commands with one output.
func checkSweep(s *experiment.Sweep) error {
	if err := s.CheckNames(); err != nil {
		return err
	}
	parser, err := newParser(&commands{}, kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		return err
	}
	outputs := map[string]int{}
	for i := range s.Count() {
		words := s.Command(i)
		parsed, err := parser.Parse(words)
		if err != nil {
			return fmt.Errorf("%s: command %d, %s: %w", s.File, i, experiment.ShellLine(words), err)
		}
		if strings.HasPrefix(parsed.Command(), "sweep ") {
			return fmt.Errorf("%s: the command of a sweep is a sweep", s.File)
		}
		out := outputOf(parsed)
		if before, there := outputs[out]; there && out != "" {
			return fmt.Errorf("%s: commands %d and %d both write %s: expected all names of the grid, or {index}, "+
				"in --out", s.File, before, i, out)
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
