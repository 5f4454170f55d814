package interop

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"vnd/pkg/ros2/dds/fastdds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/rostest"
)

// patience is how long something that must happen may take.
const patience = time.Minute

// step is a command of a transcript with its expected output.
type step struct {
	command, want string
	retried       bool // until it prints them: the first, which waits for discovery
}

// readTranscript reads a file of comments (#), commands ($, or ? for those to repeat) and their
// output. Marks stand for text that varies. <n> is a number, <gid> octets in hexadecimal, <any>
// the rest of a line, <rates> at least two measurements of a command, <lines> any lines. A
// line with <waiting> appears only while the peer is missing. A line that ends in <humble> is
// expected of Humble alone, one that ends in <newer> of distributions after it; in <cyclone> or
// <fastdds>, on that middleware.
func readTranscript(t *testing.T, name string) []step {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	for line := range strings.Lines(string(data)) {
		line, other := without(line)
		switch {
		case other, len(steps) == 0 && strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "$ "), strings.HasPrefix(line, "? "):
			steps = append(steps, step{command: strings.TrimSpace(line[2:]), retried: line[0] == '?'})
		default:
			steps[len(steps)-1].want += line
		}
	}
	return steps
}

// without takes the mark of a distribution or a middleware from a line, and says whether it is of another than here.
func without(line string) (text string, other bool) {
	for mark, here := range map[string]bool{"humble": !newer(), "newer": newer(),
		"cyclone": middleware() == rmw.Cyclone, "fastdds": middleware() == rmw.FastDDS} {
		if text, marked := strings.CutSuffix(line, " <"+mark+">\n"); marked {
			return text + "\n", !here
		}
	}
	return line, false
}

var marks = []struct{ mark, pattern string }{
	{"<n>", `-?\d+(\.\d+)?(e[-+]\d+)?`}, {"<gid>", `[0-9a-f]{2}(\.[0-9a-f]{2})*`}, {"<any>", `[^\n]*`},
	{"<waiting>\n", `((W|w)aiting [^\n]*\n|WARNING: topic [^\n]* does not appear to be published yet\n)*`},
	{"<rates>\n", `([^\n]*(average|\d+(\.\d+)? [KM]?B/s)[^\n]*\n[^\n]*min[^\n]*\n){2,}`},
	{"<lines>\n", `([^\n]*\n)*`},
}

func (s step) matches(output string) bool {
	pattern := regexp.QuoteMeta(s.want)
	for _, m := range marks {
		pattern = strings.ReplaceAll(pattern, regexp.QuoteMeta(m.mark), m.pattern)
	}
	return regexp.MustCompile("^" + strings.TrimRight(pattern, "\n") + `\n*$`).MatchString(output)
}

// place is the environment of a test's programs: a domain with a tag of its own on the
// loopback, and a working directory.
type place struct {
	t    *testing.T
	env  []string
	work string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, work: t.TempDir()}
	p.env = append(os.Environ(), fmt.Sprint("ROS_DOMAIN_ID=", domain()), "ROS_LOG_DIR="+p.work, "ROS_LOCALHOST_ONLY=",
		"CYCLONEDDS_URI="+loopback(fmt.Sprintf("<Tag>vnd_interop_%d</Tag>", os.Getpid())))
	if middleware() == rmw.FastDDS { // knows no tags
		p.env = append(p.env, fmt.Sprint("ROS_DOMAIN_ID=", 201+os.Getpid()%30),
			"ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST")
		if !newer() {
			p.env = append(p.env, "ROS_LOCALHOST_ONLY=1")
		}
	}
	return p
}

// newer says whether ROS_DISTRO is a distribution after Humble.
func newer() bool { return rmw.AfterHumble(os.Getenv("ROS_DISTRO")) }

// middleware of ROS' tools and of our nodes. Where RMW_IMPLEMENTATION is not set, both take it by themselves.
func middleware() string {
	chosen, _ := rmw.Choose(os.Getenv, fastdds.Installed)
	return chosen
}

// domain of this process.
func domain() int { return 1 + os.Getpid()%100 }

// loopback configures Cyclone DDS to use only the loopback, with further <Discovery>.
func loopback(more string) string {
	return `<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>` +
		`<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>` +
		`<MaxAutoParticipantIndex>120</MaxAutoParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers>` +
		more + `</Discovery></Domain></CycloneDDS>`
}

// shell runs a command and returns its output.
func (p *place) shell(command string) string {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Env, cmd.Dir, cmd.WaitDelay = p.env, p.work, time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Sprintf("%s%v\n", out, err)
	}
	return string(out)
}

// start runs a program in the background. At the end of the test it is interrupted and must
// end well.
func (p *place) start(name string, args ...string) *background {
	p.t.Helper()
	b := &background{t: p.t, cmd: exec.Command(name, args...), output: new(rostest.Console)}
	if programs[name] != nil {
		b.cmd = exec.Command(os.Args[0], args...)
		b.cmd.Env = append(p.env, programVariable+"="+name)
	} else {
		b.cmd.Env = p.env
	}
	b.cmd.Dir, b.cmd.Stdout, b.cmd.Stderr = p.work, b.output, b.output
	b.cmd.SysProcAttr, b.cmd.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, time.Second
	if err := b.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { b.stop() })
	return b
}

type background struct {
	t      *testing.T
	cmd    *exec.Cmd
	output *rostest.Console
	ended  bool
}

// stop interrupts the program and returns its output.
func (b *background) stop() string {
	b.t.Helper()
	if b.ended {
		return b.output.String()
	}
	if err := b.interrupt(); err != nil {
		b.t.Errorf("%s: %v\n%s", b.cmd, err, b.output)
	}
	return b.output.String()
}

// interrupt ends the program, however it ends.
func (b *background) interrupt() error {
	b.ended = true
	signal := func(s syscall.Signal) { syscall.Kill(-b.cmd.Process.Pid, s) } // with its children, as a terminal does
	killer := time.AfterFunc(patience, func() { signal(syscall.SIGKILL) })
	defer killer.Stop()
	signal(syscall.SIGINT)
	return b.cmd.Wait()
}

// replay runs the commands of a transcript and compares their output. It keeps the output in
// the folder that VND_TRANSCRIPTS names.
func (p *place) replay(name string) {
	p.t.Helper()
	var actual strings.Builder
	fmt.Fprintf(&actual, "# %s, ROS 2 %s, %s: what its tools print of nodes of pkg/ros2/ros\n",
		time.Now().UTC().Format(time.DateOnly), os.Getenv("ROS_DISTRO"), middleware())
	for _, s := range readTranscript(p.t, name) {
		output := p.shell(s.command)
		for end := time.Now().Add(patience); s.retried && !s.matches(output) && time.Now().Before(end); {
			output = p.shell(s.command)
		}
		if !s.matches(output) {
			p.t.Errorf("%s: $ %s\n%s\nwant\n%s", name, s.command, output, s.want)
		}
		fmt.Fprintf(&actual, "$ %s\n%s", s.command, strings.ReplaceAll(output, p.work, "WORK"))
	}
	if folder := os.Getenv("VND_TRANSCRIPTS"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(actual.String()), 0o644); err != nil {
			p.t.Error(err)
		}
	}
}
