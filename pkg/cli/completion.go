package cli

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

//go:embed completion.bash
var completionScript string

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh" help:"bash or zsh: source <(vnd completion bash)"`
}

// completion is a script for a shell.
type completion struct {
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

// Run implements `vnd completion`.
func (x *completionCommand) Run(c *console) error {
	var all commands
	parser, err := newParser(&all)
	if err != nil {
		return err
	}
	var table strings.Builder
	words(&table, parser.Model.Node, "vnd")
	script := strings.Replace(completionScript, "# TABLE\n", table.String(), 1)
	if x.Shell == "zsh" {
		script = "autoload -U +X compinit bashcompinit && compinit -u && bashcompinit\n" + script
	}
	return c.show(&completion{x.Shell, script})
}

// words writes a line for each command: what may follow it, and the values of its flags that have few.
func words(w io.Writer, n *kong.Node, path string) {
	var follow []string
	for _, child := range n.Children {
		if !child.Hidden {
			follow = append(follow, child.Name)
			words(w, child, path+" "+child.Name)
		}
	}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			follow = append(follow, "--"+f.Name)
			if values := f.EnumSlice(); len(values) > 0 {
				fmt.Fprintf(w, "\t'%s --%s') echo '%s' ;;\n", path, f.Name, strings.Join(values, " "))
			}
		}
	}
	for _, p := range n.Positional {
		follow = append(follow, p.EnumSlice()...)
	}
	fmt.Fprintf(w, "\t'%s') echo '%s' ;;\n", path, strings.Join(follow, " "))
}

// WriteText implements result.
func (x *completion) WriteText(w io.Writer) error {
	_, err := io.WriteString(w, x.Script)
	return err
}
