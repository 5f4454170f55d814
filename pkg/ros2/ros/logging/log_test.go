package logging

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	rclinterfaces "vnd/msgs/rcl_interfaces"
)

// console keeps its text.
type console struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.Write(p)
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.String()
}

const now = 1795228034975768409

// start starts a log with an environment of its own. It has no file unless the environment
// names a folder.
func start(t *testing.T, env map[string]string, change func(*Options)) (*Log, *console, *console) {
	t.Helper()
	var stdout, stderr console
	o := Options{Getenv: func(name string) string { return env[name] }, Stdout: &stdout, Stderr: &stderr,
		Now: func() int64 { return now }, NoFile: env["ROS_LOG_DIR"]+env["ROS_HOME"]+env["HOME"] == ""}
	if change != nil {
		change(&o)
	}
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, &stdout, &stderr
}

func TestConsole(t *testing.T) {
	l, stdout, stderr := start(t, nil, nil)
	log := l.Logger("quad.fit")
	log.Debug().Msg("unseen")
	log.Info().Float64("loss", 0.5).Str("task", "hover now").Ints("ids", []int{1, 2}).Msg("fitted")
	log.Warn().Err(errors.New("no data")).Send()
	log.Error().Msgf("%d left", 3)
	log.WithLevel(zerolog.FatalLevel).Msg("über")
	log.Log().Msg("plain")
	l.Sync()
	head := func(level string) string { return "[" + level + "] [1795228034.975768409] [quad.fit]: " }
	want := head("INFO") + "fitted loss=0.5 task=\"hover now\" ids=[1,2]\n" + head("WARN") + "error=\"no data\"\n" +
		head("ERROR") + "3 left\n" + head("FATAL") + "über\n" + head("INFO") + "plain\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" || stdout.String() != "" {
		t.Error(diff, stdout)
	}
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		env            map[string]string
		stdout, stderr string
	}{
		{map[string]string{"RCUTILS_LOGGING_USE_STDOUT": "1", "RCUTILS_LOGGING_BUFFERED_STREAM": "0"},
			"[WARN] [1795228034.975768409] [n]: m\n", ""},
		{map[string]string{"RCUTILS_CONSOLE_OUTPUT_FORMAT": "{name}|{message}", "RCUTILS_LOGGING_USE_STDOUT": "0"}, "",
			"n|m\n"},
		{map[string]string{"RCUTILS_CONSOLE_OUTPUT_FORMAT": "{message}", "RCUTILS_COLORIZED_OUTPUT": "1"}, "",
			"\x1b[33mm\x1b[0m\n"},
		{map[string]string{"RCUTILS_CONSOLE_OUTPUT_FORMAT": "{message}", "RCUTILS_COLORIZED_OUTPUT": "0"}, "", "m\n"},
	} {
		t.Run(fmt.Sprint(c.env), func(t *testing.T) {
			l, stdout, stderr := start(t, c.env, nil)
			log := l.Logger("n")
			log.Warn().Msg("m")
			l.Sync()
			if stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("%v: stdout %q, stderr %q", c.env, stdout, stderr)
			}
		})
	}
	notAPlace := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notAPlace, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env    map[string]string
		config string
		want   string
	}{
		{map[string]string{"RCUTILS_LOGGING_USE_STDOUT": "yes"}, "",
			`RCUTILS_LOGGING_USE_STDOUT is "yes", expected 0 (use stderr) or 1 (use stdout)`},
		{map[string]string{"RCUTILS_COLORIZED_OUTPUT": "2"}, "",
			`RCUTILS_COLORIZED_OUTPUT is "2", expected 0 (force no color) or 1 (force color)`},
		{map[string]string{"RCUTILS_LOGGING_BUFFERED_STREAM": "x"}, "",
			`RCUTILS_LOGGING_BUFFERED_STREAM is "x", expected 0 (not buffered) or 1 (buffered)`},
		{nil, "", "no place for the log file: HOME is not set, nor ROS_LOG_DIR"},
		{nil, "f.conf", `log configuration file "f.conf": files of ROS' log libraries are not understood; leave it ` +
			`out, or --disable-external-lib-logs`},
		{map[string]string{"ROS_LOG_DIR": notAPlace + "/log"}, "", "failed to create log directory: mkdir " +
			notAPlace + ": not a directory"},
	} {
		_, err := New(Options{Getenv: func(name string) string { return c.env[name] }, ConfigFile: c.config})
		if err == nil || err.Error() != c.want {
			t.Errorf("%v: %v\nwant %s", c.env, err, c.want)
		}
	}
}

func TestFile(t *testing.T) {
	home := t.TempDir()
	for _, c := range []struct {
		env          map[string]string
		prefix, want string
	}{
		{map[string]string{"HOME": home}, "", ".ros/log/logging.test"},
		{map[string]string{"HOME": home, "ROS_HOME": "~/r"}, "", "r/log/logging.test"},
		{map[string]string{"HOME": home, "ROS_HOME": home, "ROS_LOG_DIR": home + "/a/b"}, "fit", "a/b/fit"},
	} {
		t.Run("prefix "+c.prefix, func(t *testing.T) {
			l, _, stderr := start(t, c.env, func(o *Options) { o.FileName, o.NoConsole = c.prefix, true })
			log := l.Logger("n")
			log.Info().Msg("kept")
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			log.Info().Msg("too late")
			want := fmt.Sprintf("%s/%s_%d_1795228034975.log", home, c.want, os.Getpid())
			data, err := os.ReadFile(l.File())
			if l.File() != want || err != nil || string(data) != "[INFO] [1795228034.975768409] [n]: kept\n" {
				t.Errorf("%s: %q, %v, want %s", l.File(), data, err, want)
			}
			if stderr.String() != "" || l.Dropped() != 1 {
				t.Errorf("on the console %q, %d dropped", stderr, l.Dropped())
			}
		})
	}
}

// TestFullDisk: the file ends with one error message, the console goes on.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	var c console
	o := output{format: newFormat("{message}"), console: &c, file: full, buffer: bufio.NewWriter(full)}
	for i := range 3 {
		o.write(&record{message: fmt.Sprint(i)})
		o.flush()
	}
	o.end()
	want := "0\nthe log file ends here: write /dev/full: no space left on device\n1\n2\n"
	if c.String() != want || o.err == nil {
		t.Errorf("%q, %v", c.String(), o.err)
	}
}

func TestLevels(t *testing.T) {
	l, _, stderr := start(t, map[string]string{"RCUTILS_CONSOLE_OUTPUT_FORMAT": "{name} {message}"}, func(o *Options) {
		o.Level, o.Settings = Error, []Setting{{"quad", Warn}, {"quad.fit", Debug}}
	})
	fit, quad, other := l.Logger("quad.fit.encoder"), l.Logger("quad"), l.Logger("other")
	say := func(message string) {
		for _, log := range []zerolog.Logger{fit, quad, other} {
			log.Debug().Msg(message + " debug")
			log.Warn().Msg(message + " warn")
		}
		l.Sync()
	}
	say("1")
	l.Levels().Set("quad", Debug)
	l.Levels().Set("quad.fit", Fatal)
	zerolog.DisableSampling(true) // a global switch of zerolog's does not open the gates
	say("2")
	zerolog.DisableSampling(false)
	want := "quad.fit.encoder 1 debug\nquad.fit.encoder 1 warn\nquad 1 warn\nquad 2 debug\nquad 2 warn\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" {
		t.Error(diff)
	}
}

// TestPlace: the caller's position is found behind zerolog's methods.
func TestPlace(t *testing.T) {
	l, _, stderr := start(t, map[string]string{
		"RCUTILS_CONSOLE_OUTPUT_FORMAT": "{file_name}|{function_name}|{line_number}"}, nil)
	log := l.Logger("n").With().Int("a", 1).Logger()
	log.Info().Msg("a")
	log.Info().Msgf("%d", 1)
	log.Info().Send()
	log.Print("printed") // debug
	l.Sync()
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	form := regexp.MustCompile(`^.*logging/log_test\.go\|vnd/pkg/ros2/ros/logging\.TestPlace\|[1-9][0-9]*$`)
	for _, line := range lines {
		if !form.MatchString(line) {
			t.Error(line)
		}
	}
	if len(lines) != 3 || lines[0] == lines[1] {
		t.Error(lines)
	}
}

func TestRosout(t *testing.T) {
	l, _, _ := start(t, nil, func(o *Options) { o.NoConsole = true })
	var fit, quad []rclinterfaces.Log
	stopFit := l.Publish("quad.fit", func(m *rclinterfaces.Log) { fit = append(fit, *m) })
	stopQuad := l.Publish("quad", func(m *rclinterfaces.Log) { quad = append(quad, *m) })
	for _, name := range []string{"quad.fit", "quad.fit.encoder", "quad.sim", "quadro"} {
		log := l.Logger(name)
		log.Error().Int("n", 1).Msg("from " + name)
	}
	stopFit()
	stopFit() // again is no harm
	log := l.Logger("quad.fit")
	log.Info().Msg("late")
	stopQuad()
	var names []string
	for _, m := range append(fit, quad...) {
		names = append(names, m.Msg)
	}
	want := "from quad.fit n=1, from quad.fit.encoder n=1, from quad.sim n=1, late"
	if got := strings.Join(names, ", "); got != want {
		t.Error(got)
	}
	m := fit[1]
	if m.Stamp.Sec != 1795228034 || m.Stamp.Nanosec != 975768409 || m.Level != rclinterfaces.LogError ||
		m.Name != "quad.fit.encoder" ||
		!strings.HasSuffix(m.File, "log_test.go") || m.Function != "vnd/pkg/ros2/ros/logging.TestRosout" ||
		m.Line == 0 {
		t.Errorf("%+v", m)
	}
	off, _, _ := start(t, nil, func(o *Options) { o.NoConsole, o.NoTopic = true, true })
	stop := off.Publish("n", func(*rclinterfaces.Log) { t.Error("published though switched off") })
	log = off.Logger("n")
	log.Info().Msg("x")
	stop()
}

// stuck is a console or publisher that blocks until it is released.
type stuck struct {
	entered, release chan struct{}
	once             sync.Once
}

func newStuck() *stuck { return &stuck{entered: make(chan struct{}), release: make(chan struct{})} }

func (s *stuck) wait() {
	s.once.Do(func() { close(s.entered) })
	<-s.release
}

type stuckConsole struct {
	*stuck
	console
}

func (s *stuckConsole) Write(p []byte) (int, error) {
	s.wait()
	return s.console.Write(p)
}

// TestStuckConsole: a console that blocks does not block loggers. Dropped messages are counted
// and reported, without allocations.
func TestStuckConsole(t *testing.T) {
	c := &stuckConsole{stuck: newStuck()}
	l, _, _ := start(t, map[string]string{"RCUTILS_CONSOLE_OUTPUT_FORMAT": "{name} {message}"},
		func(o *Options) { o.Stderr = c })
	log := l.Logger("n")
	log.Info().Msg("first")
	<-c.entered
	if n := testing.AllocsPerRun(500, func() { log.Info().Int("a", 1).Msg("waits") }); n != 0 {
		t.Errorf("a message allocates %v times", n)
	}
	if n := testing.AllocsPerRun(500, func() { log.Debug().Int("a", 1).Msg("off") }); n != 0 {
		t.Errorf("a message below the level allocates %v times", n)
	}
	const many = 5000
	for i := range many {
		log.Info().Int("i", i).Msg("")
	}
	dropped := l.Dropped()
	close(c.release)
	l.Sync()
	// One was being written; all others were in the queue or dropped.
	if total := 502 + many; uint64(total-1-queueDepth) > dropped || dropped > uint64(total-queueDepth) {
		t.Errorf("%d of %d dropped", dropped, total)
	}
	log.Info().Msg("goes on")
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	text := c.String()
	if !strings.Contains(text, fmt.Sprintf("logging %d messages of the log were dropped", dropped)) ||
		!strings.Contains(text, "n goes on\n") {
		t.Errorf("…%s", text[max(0, len(text)-300):])
	}
	if lines := strings.Count(text, "\n"); uint64(lines) != 502+many-dropped+2 {
		t.Errorf("%d lines, %d dropped", lines, dropped)
	}
}

// TestStuckRosout: a publisher that blocks does not block the console or other publishers.
func TestStuckRosout(t *testing.T) {
	l, _, stderr := start(t, nil, nil)
	s := newStuck()
	others := 0
	stop := l.Publish("stuck", func(*rclinterfaces.Log) { s.wait() })
	stopOther := l.Publish("other", func(*rclinterfaces.Log) { others++ })
	hanging, other := l.Logger("stuck"), l.Logger("other")
	hanging.Info().Msg("first")
	<-s.entered
	const many = rosoutDepth + 100
	for range many {
		hanging.Info().Msg("more")
	}
	other.Info().Msg("alive")
	stopOther()
	if others != 1 || !strings.Contains(stderr.String(), "[other]: alive") {
		t.Errorf("others published %d", others)
	}
	if n := l.Dropped(); n != 100 {
		t.Errorf("%d dropped", n)
	}
	close(s.release)
	stop()
}

func TestMessage(t *testing.T) {
	for text, want := range map[string]string{
		`{"level":"info","message":"a","x":1}` + "\n": "a x=1",
		`{"x":{"y":"a b"},"e":"","q":"a=b"}`:          `x={"y":"a b"} e="" q="a=b"`,
		`{"message":"one","b":null,"message":"two"}`:  "one two b=null",
		"not json\n": "not json",
		`{"broken":`: `{"broken":`,
		`{"a" 1}`:    `{"a" 1}`,
		`[1]`:        `[1]`,
		``:           ``,
	} {
		t.Run(text, func(t *testing.T) {
			if got := message([]byte(text)); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		})
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"level":"info","message":"a","x":[1,{"y":null}]}`))
	f.Add([]byte(`{"a":1}{"b":2}`))
	f.Fuzz(func(_ *testing.T, text []byte) { message(text) })
}

func BenchmarkMessage(b *testing.B) {
	c := &stuckConsole{stuck: newStuck()}
	l, err := New(Options{NoFile: true, Stderr: c, Getenv: func(string) string { return "" }})
	if err != nil {
		b.Fatal(err)
	}
	log := l.Logger("n")
	b.ReportAllocs()
	for b.Loop() {
		log.Info().Float64("x", 0.5).Msg("tick")
		select { // never let the queue fill: dropped messages cost less
		case e := <-l.queue:
			l.free <- e
		default:
		}
	}
	close(c.release)
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}
