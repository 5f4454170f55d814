// Package rosargs parses the arguments that ROS 2 tools pass to a node:
//
//	--ros-args [-r RULE] [-p [node:]name:=value] [--params-file FILE] [-e ENCLAVE]
//	  [--log-level [logger:=]LEVEL] [--log-config-file FILE] [--log-file-name NAME]
//	  [--enable-…-logs | --disable-…-logs] [--]
//
// Here … is stdout, rosout or external-lib. The syntax is that of rcl.
package rosargs

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"vnd/pkg/core/param"
	"vnd/pkg/ros2/ros/logging"
	"vnd/pkg/ros2/ros/names"
)

// Args is a parsed command line.
type Args struct {
	Rest    []string     // arguments that are not for ROS, in order
	Rules   []names.Rule // for names.NewNode
	Enclave string       // "" when not given

	Level    logging.Level // of all loggers; Unset when not given
	Settings []logging.Setting
	// Disabled outputs of the log: the console, the topic /rosout and the file.
	NoStdout, NoRosout, NoFile bool
	LogConfigFile, LogFileName string

	Warnings []string // about deprecated syntax, and what is outside --ros-args

	blocks []param.Block // of files and -p, in the order given
}

// Parse parses a command line without the program's name, and the parameter files that it
// names. ROS arguments stand between --ros-args and -- or the end; there may be several
// such groups. An unknown ROS argument is an error.
func Parse(args []string) (*Args, error) {
	return parser{read: os.ReadFile}.parse(args)
}

type parser struct {
	Args
	read func(path string) ([]byte, error)
}

func (p parser) parse(args []string) (*Args, error) {
	ros := false // within --ros-args
	var unknown []string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--ros-args": // within, it may come again
			ros = true
		case !ros:
			p.otherArg(arg)
			p.warnOfUnmarked(args[i:])
		case arg == "--":
			ros = false
		case p.logOutput(arg):
		case valueFlags[arg].take == nil:
			unknown = append(unknown, fmt.Sprintf("%.100q", arg))
		case i+1 == len(args):
			return nil, fmt.Errorf("couldn't parse trailing %s flag: no %s found", arg, valueFlags[arg].value)
		default:
			i++
			if err := valueFlags[arg].take(&p, args[i]); err != nil {
				return nil, fmt.Errorf("couldn't parse %s %.300q: %w", valueFlags[arg].value, arg+" "+args[i], err)
			}
		}
	}
	if unknown != nil {
		return nil, fmt.Errorf("found unknown ROS arguments: %s", strings.Join(unknown, ", "))
	}
	return &p.Args, nil
}

// otherArg takes an argument outside --ros-args: a remap rule in deprecated syntax, or an
// argument that is not for ROS.
func (p *parser) otherArg(arg string) {
	r, err := names.ParseRule(arg)
	if err != nil {
		p.Rest = append(p.Rest, arg)
		return
	}
	p.Rules = append(p.Rules, r)
	p.Warnings = append(p.Warnings,
		fmt.Sprintf("found remap rule %q: this syntax is deprecated, use \"--ros-args --remap %s\"", arg, arg))
}

// warnOfUnmarked warns of a parameter, rule or file outside --ros-args, where it does nothing.
func (p *parser) warnOfUnmarked(args []string) {
	if len(args) < 2 || valueFlags[args[0]].take == nil {
		return
	}
	_, err := names.ParseRule(args[1])
	if args[0] == "--params-file" || strings.Contains(args[1], ":=") && err != nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("argument %.300q is not used: it belongs behind --ros-args",
			args[0]+" "+args[1]))
	}
}

// logOutput takes --enable-…-logs and --disable-…-logs.
func (p *parser) logOutput(arg string) bool {
	output, off := strings.CutPrefix(arg, "--disable-")
	if !off {
		var on bool
		if output, on = strings.CutPrefix(arg, "--enable-"); !on {
			return false
		}
	}
	switch output {
	case "stdout-logs":
		p.NoStdout = off
	case "rosout-logs":
		p.NoRosout = off
	case "external-lib-logs":
		p.NoFile = off
	default:
		return false
	}
	return true
}

// flag is a flag with a value.
type flag struct {
	value string // what it is, for errors
	take  func(p *parser, value string) error
}

var valueFlags = map[string]flag{
	"-r":                {"remap rule", (*parser).remap},
	"--remap":           {"remap rule", (*parser).remap},
	"-p":                {"parameter override rule", (*parser).parameter},
	"--param":           {"parameter override rule", (*parser).parameter},
	"--params-file":     {"params file", (*parser).file},
	"-e":                {"enclave name", (*parser).enclave},
	"--enclave":         {"enclave name", (*parser).enclave},
	"--log-level":       {"log level", (*parser).level},
	"--log-config-file": {"log configuration file", (*parser).logConfig},
	"--log-file-name":   {"log file name prefix", (*parser).logFile},
}

func (p *parser) remap(text string) error {
	r, err := names.ParseRule(text)
	p.Rules = append(p.Rules, r)
	return err
}

// Shared before the name of a -p says that it is for whatever nodes have the parameter, also of other processes.
const Shared = "**:"

func (p *parser) parameter(text string) error {
	rest, shared := strings.CutPrefix(text, Shared)
	node, name, value, err := names.SplitParameter(rest)
	if err != nil {
		return err
	}
	v, err := param.ScanValue(value)
	if err != nil {
		return fmt.Errorf("parameter %q: %w", name, err)
	}
	a := param.Argument(name, v, text)
	a.Shared = shared
	if node == "" {
		node = "**"
	}
	p.blocks = append(p.blocks, param.NewBlock(node, a))
	return nil
}

func (p *parser) file(path string) error {
	data, err := p.read(path)
	if err != nil {
		return err
	}
	blocks, err := param.Scan(path, data)
	p.blocks = append(p.blocks, blocks...)
	return err
}

func (p *parser) enclave(name string) error {
	p.Enclave = name
	return names.CheckEnclave(name)
}

func (p *parser) level(text string) error {
	logger, name, single := strings.Cut(text, ":=")
	if !single {
		name = text
	} else if logger == "" {
		return fmt.Errorf("expected a logger's name before \":=\"")
	}
	level, err := logging.ParseLevel(name)
	switch {
	case err != nil:
		return err
	case single:
		p.Settings = append(p.Settings, logging.Setting{Logger: logger, Level: level})
	default:
		p.Level = level
	}
	return nil
}

func (p *parser) logConfig(path string) error {
	p.LogConfigFile = path
	return nil
}

func (p *parser) logFile(name string) error {
	p.LogFileName = name
	return nil
}

// Overrides returns the parameters of the command line and its files for the node of this
// full name, after remapping. The last assignment of a parameter counts, in the order of
// files and -p, and of the lines of a file. (rclcpp puts all assignments of one key, such
// as /**, where that key came first.) Of several names those for any count.
func (a *Args) Overrides(nodes ...string) map[string]param.Assignment {
	found := map[string]param.Assignment{}
	for _, b := range a.blocks {
		if !slices.ContainsFunc(nodes, b.Matches) {
			continue
		}
		for _, assignment := range b.Assignments {
			found[assignment.Name] = assignment
		}
	}
	return found
}
