package logging

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"
)

// environment is the log's configuration by environment variables.
type environment struct {
	stdout  bool // not stderr
	colored bool
	format  format
}

func (o *Options) environment() (environment, error) {
	var e environment
	stdout, err := o.zeroOrOne("RCUTILS_LOGGING_USE_STDOUT", "use stderr", "use stdout")
	if err != nil {
		return e, err
	}
	// Lines are never buffered; only the value is checked.
	if _, err := o.zeroOrOne("RCUTILS_LOGGING_BUFFERED_STREAM", "not buffered", "buffered"); err != nil {
		return e, err
	}
	color, err := o.zeroOrOne("RCUTILS_COLORIZED_OUTPUT", "force no color", "force color")
	if err != nil {
		return e, err
	}
	e.stdout = stdout == "1"
	e.colored = color == "1" || color == "" && isTerminal(o.console(e.stdout))
	e.format = newFormat(o.Getenv("RCUTILS_CONSOLE_OUTPUT_FORMAT"))
	return e, nil
}

func (o *Options) zeroOrOne(name, zero, one string) (string, error) {
	switch v := o.Getenv(name); v {
	case "", "0", "1":
		return v, nil
	default:
		return "", fmt.Errorf("%s is %.40q, expected 0 (%s) or 1 (%s)", name, v, zero, one)
	}
}

func (o *Options) console(stdout bool) io.Writer {
	if stdout {
		return o.Stdout
	}
	return o.Stderr
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// directory of the log files: $ROS_LOG_DIR, $ROS_HOME/log or ~/.ros/log.
func (o *Options) directory() (string, error) {
	dir := o.Getenv("ROS_LOG_DIR")
	if dir == "" {
		home := o.Getenv("ROS_HOME")
		if home == "" {
			home = "~/.ros"
		}
		dir = filepath.Join(home, "log")
	}
	rest, home := strings.CutPrefix(dir, "~")
	if !home {
		return dir, nil
	}
	user := o.Getenv("HOME")
	if user == "" {
		return "", errors.New("no place for the log file: HOME is not set, nor ROS_LOG_DIR")
	}
	return user + rest, nil
}

// open creates the log file <program>_<pid>_<ms since 1970>.log.
func (o *Options) open() (*os.File, error) {
	if o.ConfigFile != "" {
		return nil, fmt.Errorf("log configuration file %q: files of ROS' log libraries are not understood; leave it "+
			"out, or --disable-external-lib-logs", o.ConfigFile)
	}
	dir, err := o.directory()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("failed to create log directory: %w", err)
	}
	name := o.FileName
	if name == "" {
		name = filepath.Base(os.Args[0])
	}
	path := filepath.Join(dir, fmt.Sprintf("%s_%d_%d.log", name, os.Getpid(), o.Now()/1e6))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("failed to create the log file: %w", err)
	}
	return f, nil
}
