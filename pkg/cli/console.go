package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"vnd/pkg/core/dist"
)

// console is the world outside a command.
type console struct {
	ctx      context.Context
	stdout   io.Writer
	stderr   io.Writer
	silent   bool      // what is to be said, rank 0 says: stdout and stderr lead nowhere
	voice    io.Writer // stderr all the same
	json     bool
	terminal bool // stderr is one
	log      zerolog.Logger
	warnings []string // those logged, for the result
	printed  bool     // the one result is out
	agreed   bool     // an error is that of all ranks
}

func newConsole(ctx context.Context, stdout, stderr io.Writer, json bool) *console {
	c := &console{ctx: ctx, stdout: stdout, stderr: stderr, voice: stderr, json: json, warnings: []string{}}
	if f, ok := stderr.(*os.File); ok {
		c.terminal = term.IsTerminal(int(f.Fd()))
	}
	c.log = zerolog.New(zerolog.ConsoleWriter{Out: stderr, NoColor: !c.terminal,
		PartsOrder: []string{zerolog.LevelFieldName, zerolog.MessageFieldName}})
	return c
}

// warn logs a suspicion and keeps it for the result.
func (c *console) warn(text string) {
	c.warnings = append(c.warnings, text)
	c.log.Warn().Msg(text)
}

// show prints the command's result.
func (c *console) show(r result) error {
	c.printed = true
	if !c.json {
		return r.WriteText(c.stdout)
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = c.stdout.Write(append(b, '\n'))
	return err
}

// fail prints the error on one line and, with --json, as the one object; it returns the exit code. A silent rank
// leaves both to rank 0 if that has the error too: mpirun would end it before its line if another failed first.
func (c *console) fail(command string, err error) int {
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	if errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	to, code := c.voice, 1
	if c.silent && c.agreed && !errors.As(err, new(*dist.Error)) {
		to, code = c.stderr, 0
	}
	fmt.Fprintf(to, "%s: %s\n", command, text)
	if c.json && !c.printed {
		b, _ := json.Marshal(map[string]string{"error": text}) // a string: cannot fail
		c.stdout.Write(append(b, '\n'))
	}
	return code
}

// clearScreen is what clears a terminal's screen; elsewhere a line between two of them.
func (c *console) clearScreen() string {
	if f, ok := c.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return "\x1b[H\x1b[2J"
	}
	return "\n"
}

// bar is a progress bar on a terminal and nothing elsewhere.
type bar struct{ b *progressbar.ProgressBar }

const barSteps = 1000

func (c *console) newBar(description string) bar {
	if !c.terminal {
		return bar{}
	}
	return bar{progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(c.stderr), progressbar.OptionSetWidth(20),
		progressbar.OptionSetDescription(description), progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100*time.Millisecond))}
}

// at moves the bar to a share of its length; an empty description keeps the present one.
func (b bar) at(share float64, description string) {
	if b.b == nil {
		return
	}
	if description != "" {
		b.b.Describe(description)
	}
	b.b.Set(int(share * (barSteps - 1))) // the last step is done's; a terminal that went away is no reason to stop
}

// done takes the bar off the terminal.
func (b bar) done() {
	if b.b != nil {
		b.b.Finish()
	}
}
