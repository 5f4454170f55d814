package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"vnd/pkg/core/attached"
)

// Programs that fly, beside vnd.
const (
	simulator  = "quad_sim"
	controller = "policy_controller"
	encoder    = "latent_encoder"
	recorder   = "transition_recorder"
	learner    = "background_learner"
	visualizer = "visualizer"
)

var programs = []string{simulator, controller, encoder, recorder, learner, visualizer}

// fleet is the nodes as processes.
type fleet struct {
	programs string        // their folder
	env      []string      // of all, beside our own
	patience time.Duration // how long a child may take to end in good order
	say      func(line string)
	children []*child
	gone     []*child // in order of their end
	failed   failures // of a child that ended by itself
}

// endsWithin is a demo's patience.
const endsWithin = 30 * time.Second

// child is one process.
type child struct {
	name    string
	cmd     *exec.Cmd
	log     tail
	ended   chan error // closed after what Wait said
	stopped chan struct{}
}

// check refuses a folder that lacks a program.
func (f *fleet) check(programs []string) error {
	for _, name := range programs {
		if info, err := os.Stat(filepath.Join(f.programs, name)); err != nil || info.IsDir() {
			return fmt.Errorf("there is no program %s in %s: make build", name, f.programs)
		}
	}
	return nil
}

// start starts a program in the namespace, which does not outlive a demo that is killed.
func (f *fleet) start(name string, args ...string) error {
	c := &child{name: name, ended: make(chan error, 1), stopped: make(chan struct{})}
	c.cmd = exec.Command(filepath.Join(f.programs, name), args...)
	c.cmd.Env = append(os.Environ(), f.env...)
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.WaitDelay = &c.log, &c.log, time.Second
	// A group of its own: a Ctrl-C in the terminal comes to us alone, who end the children in order.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := attached.Start(c.cmd, syscall.SIGINT); err != nil {
		return err
	}
	f.children = append(f.children, c)
	go func() {
		err := c.cmd.Wait()
		c.ended <- err
		close(c.ended)
		select {
		case <-c.stopped:
		default:
			f.failed.report(c.complaint("ended by itself", err))
		}
	}()
	return nil
}

var errLate = errors.New("it was killed")

// stop ends the children, the last that was started first, each before the next. It may be called again. A learner that
// ends late is no failure: it gives way to everything, and what was flown is whole without it.
func (f *fleet) stop() error {
	var failures error
	for i := len(f.children) - 1; i >= 0; i-- {
		c := f.children[i]
		switch err := c.stop(f.patience); {
		case c.name == learner && errors.Is(err, errLate):
			f.say(fmt.Sprint(learner, " was killed: it gives way to everything, and did not end within ", f.patience))
		default:
			failures = errors.Join(failures, err)
		}
		f.gone = append(f.gone, c)
	}
	f.children = nil
	return failures
}

// complaint names a program that is gone with the last that it said.
func (f *fleet) complaint(name, what string) error {
	for _, c := range f.gone {
		if c.name == name {
			return c.complaint(what, nil)
		}
	}
	return fmt.Errorf("%s %s", name, what)
}

func (c *child) stop(patience time.Duration) error {
	close(c.stopped)
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	select {
	case err := <-c.ended:
		if err != nil {
			return c.complaint("did not end well", err)
		}
		return nil
	case <-time.After(patience):
		c.cmd.Process.Kill()
		<-c.ended
		return c.complaint(fmt.Sprint("did not end within ", patience), errLate)
	}
}

// complaint names a child with the last that it said.
func (c *child) complaint(what string, err error) error {
	said := c.log.last()
	if said != "" {
		said = "; it said last: " + said
	}
	if err == nil {
		return fmt.Errorf("%s %s%s", c.name, what, said)
	}
	return fmt.Errorf("%s %s (%w)%s", c.name, what, err, said)
}

// tail keeps the end of what a child says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

var _ io.Writer = (*tail)(nil)

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	const most = 1 << 14
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text); n > most {
		t.text = append(t.text[:0], t.text[n-most:]...)
	}
	return len(p), nil
}

// last is the last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
	return strings.TrimSpace(string(lines[len(lines)-1]))
}
