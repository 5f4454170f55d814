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
	programs string   // their folder
	env      []string // of all, beside our own
	children []*child
	failed   failures // of a child that ended by itself
}

// child is one process.
type child struct {
	name    string
	cmd     *exec.Cmd
	log     tail
	ended   chan error // closed after what Wait said
	stopped chan struct{}
}

// check refuses a folder that lacks a program.
func (f *fleet) check() error {
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

// patience is how long a child may take to end in good order.
const patience = 30 * time.Second

// stop ends the children, the last that was started first, each before the next. It may be called again.
func (f *fleet) stop() error {
	var failures error
	for i := len(f.children) - 1; i >= 0; i-- {
		failures = errors.Join(failures, f.children[i].stop())
	}
	f.children = nil
	return failures
}

func (c *child) stop() error {
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
		return c.complaint(fmt.Sprintf("did not end within %v and was killed", patience), nil)
	}
}

// complaint names a child with the last that it said.
func (c *child) complaint(what string, err error) error {
	text := c.name + " " + what
	if err != nil {
		text += " (" + err.Error() + ")"
	}
	if last := c.log.last(); last != "" {
		text += "; it said last: " + last
	}
	return errors.New(text)
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
