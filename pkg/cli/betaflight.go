package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/bridge/betaflight/link"
	"vnd/pkg/core/atomicfile"
	"vnd/pkg/flight/airframe"
)

type betaflightCommand struct {
	Check     betaflightCheck     `cmd:"" help:"Name settings that hurt under rate commands."`
	Provision betaflightProvision `cmd:"" help:"Write them to a file of lines, or to the board."`
}

// betaflightPort is a board, disarmed, whose command line is opened; it starts anew afterwards.
type betaflightPort struct {
	Port     string `required:"" placeholder:"PORT" help:"Serial device, or tcp:HOST:PORT."`
	Airframe string `placeholder:"F.yaml" help:"Rates that full sticks have to reach."`
}

// boardSettings is what a board has otherwise than it is to be.
type boardSettings struct {
	Changes []boardChange `json:"changes"`
	File    string        `json:"file,omitempty"` // of lines for the command line
	Written bool          `json:"written"`        // to the board
}

type boardChange struct {
	Name string `json:"name"`
	Now  string `json:"now"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

// compare reads a board's settings. then, if it is not nil, has the open command line, and leaves it.
func (b *betaflightPort) compare(then func(*betaflight.Console, []betaflight.Change) error) (*boardSettings, error) {
	frame, err := airframe.Load(b.Airframe)
	if err != nil {
		return nil, err
	}
	port, err := link.Open(b.Port, link.MSP)
	if err != nil {
		return nil, err
	}
	defer port.Close()
	c, err := betaflight.OpenConsole(port)
	if err != nil {
		return nil, fmt.Errorf("board at %s: %w", b.Port, err)
	}
	changes, err := c.Compare(betaflight.Recommended(max(frame.MaxTiltRate, frame.MaxYawRate)))
	if err != nil {
		return nil, errors.Join(err, c.Leave())
	}
	out := &boardSettings{Changes: []boardChange{}}
	for _, x := range changes {
		out.Changes = append(out.Changes, boardChange{x.Name, x.Now, x.Value, x.Why})
	}
	if then == nil {
		return out, c.Leave()
	}
	return out, then(c, changes)
}

type betaflightCheck struct {
	betaflightPort
}

// Run implements `vnd betaflight check`.
func (b *betaflightCheck) Run(c *console) error {
	out, err := b.compare(nil)
	if err != nil {
		return err
	}
	return c.show(out)
}

type betaflightProvision struct {
	betaflightPort
	Out   string `placeholder:"F.txt" help:"File of lines for you to read and paste."`
	Write bool   `help:"Write the settings to the board, read each back, and keep them."`
}

// Run implements `vnd betaflight provision`.
func (b *betaflightProvision) Run(c *console) error {
	if b.Out == "" && !b.Write {
		return errors.New("expected --out F.txt or --write")
	}
	out, err := b.compare(func(board *betaflight.Console, changes []betaflight.Change) error {
		if !b.Write || len(changes) == 0 {
			return board.Leave()
		}
		if err := board.Apply(changes); err != nil {
			return errors.Join(err, board.Leave())
		}
		return board.Save()
	})
	if err != nil {
		return err
	}
	out.Written = b.Write
	if b.Out != "" {
		out.File = b.Out
		err = atomicfile.WriteFile(b.Out, func(w io.Writer) error {
			_, err := io.WriteString(w, out.lines())
			return err
		})
	}
	return errors.Join(err, c.show(out))
}

// lines are those for the board's command line.
func (s *boardSettings) lines() string {
	var text strings.Builder
	for _, x := range s.Changes {
		fmt.Fprintf(&text, "# %s is %s: %s\n%s\n", x.Name, x.Now, x.Why, betaflight.Line(x.Name, x.To))
	}
	return text.String() + "save\n"
}

// WriteText implements result.
func (s *boardSettings) WriteText(w io.Writer) error {
	for _, x := range s.Changes {
		if _, err := fmt.Fprintf(w, "%s: %s → %s (%s)\n", x.Name, x.Now, x.To, x.Why); err != nil {
			return err
		}
	}
	last := fmt.Sprintf("%d settings to change", len(s.Changes))
	switch {
	case s.Written:
		last = fmt.Sprintf("%d settings written and read back; the board starts anew", len(s.Changes))
	case s.File != "":
		last += ": read " + s.File + ", and paste it into the board's command line"
	}
	_, err := fmt.Fprintln(w, last)
	return err
}
