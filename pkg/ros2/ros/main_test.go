package ros_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// programVariable selects the program below that the test binary runs.
const programVariable = "VND_TEST_PROGRAM"

var programs = map[string]func(){
	"robot": robot, "soaker": soaker, "probe": probe, "ddsecho": ddsEcho, "rosecho": rosEcho,
	"idle": func() {
		alone := ros.Options{Args: os.Args[1:], Backend: ros.InProcess(inproc.NewDomain())}
		ros.MainContext(alone, func(_ context.Context, c *ros.Context) error {
			n, err := c.NewNode("idle")
			if err != nil {
				return err
			}
			n.Post(func() { os.Stdout.WriteString("spinning\n") })
			return nil
		})
	},
	"lingering": func() {
		alone := ros.Options{Args: os.Args[1:], Backend: ros.InProcess(inproc.NewDomain())}
		ros.MainContext(alone, func(ctx context.Context, c *ros.Context) error {
			n, err := c.NewNode("lingering")
			if err != nil {
				return err
			}
			n.Post(func() {
				os.Stdout.WriteString("spinning\n")
				<-ctx.Done()
				os.Stdout.WriteString("ending\n")
				io.Copy(io.Discard, os.Stdin)
			})
			return nil
		})
	},
	"failing": func() {
		alone := ros.Options{Args: os.Args[1:], Backend: ros.InProcess(inproc.NewDomain())}
		ros.MainContext(alone, func(context.Context, *ros.Context) error {
			return errors.Join(errors.New("no bundle"), errors.New("no airframe"))
		})
	},
	"panicking": func() {
		alone := ros.Options{Threads: 2, Args: os.Args[1:], Backend: ros.InProcess(inproc.NewDomain())}
		ros.MainContext(alone, func(_ context.Context, c *ros.Context) error {
			n, err := c.NewNode("idle")
			if err == nil {
				n.Post(func() { panic("of the user") })
			}
			return err
		})
	},
}

func TestMain(m *testing.M) {
	if program := programs[os.Getenv(programVariable)]; program != nil {
		go endWith(os.Getppid())
		program()
		return
	}
	os.Exit(m.Run())
}

// endWith ends a program whose parent is gone: a crashed or killed test leaves none behind.
func endWith(parent int) {
	for os.Getppid() == parent {
		time.Sleep(time.Second)
	}
	os.Exit(1)
}

// start starts a program as another process.
func start(t testing.TB, name string, args ...string) (p *exec.Cmd, stdout *bufio.Reader, stderr *strings.Builder) {
	t.Helper()
	return startReading(t, nil, name, args...)
}

// startReading is start with a standard input.
func startReading(t testing.TB, stdin io.Reader, name string, args ...string) (p *exec.Cmd, stdout *bufio.Reader,
	stderr *strings.Builder) {
	t.Helper()
	return startIn(t, rostest.Environ(), stdin, name, args...)
}

// startIn is startReading in an environment.
func startIn(t testing.TB, env []string, stdin io.Reader, name string, args ...string) (p *exec.Cmd,
	stdout *bufio.Reader, stderr *strings.Builder) {
	t.Helper()
	p = exec.CommandContext(within(t), os.Args[0], args...)
	p.Stdin = stdin
	p.Env = append(append(os.Environ(), env...), programVariable+"="+name, "ROS_LOG_DIR="+t.TempDir())
	stderr = new(strings.Builder)
	p.Stderr = stderr
	pipe := must(p.StdoutPipe())(t)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p, bufio.NewReader(pipe), stderr
}

// SIGINT and SIGTERM end a process cleanly.
func TestSignals(t *testing.T) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		p, stdout, stderr := start(t, "idle")
		if line, err := stdout.ReadString('\n'); line != "spinning\n" {
			t.Fatalf("%q, %v, %s", line, err, stderr)
		}
		if err := p.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(stdout)
		if err := p.Wait(); err != nil || len(rest) != 0 || stderr.Len() != 0 {
			t.Errorf("%v: %v, %q, %s", s, err, rest, stderr)
		}
	}
}

// With Ctrl-C, ros2 launch sends several signals. The process still ends cleanly.
func TestSignalsInARow(t *testing.T) {
	stdin, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	p, stdout, stderr := startReading(t, stdin, "lingering")
	var signalled time.Time
	for _, want := range []string{"spinning\n", "ending\n"} {
		if line, err := stdout.ReadString('\n'); line != want {
			t.Fatalf("%q, %v, %s", line, err, stderr)
		}
		if signalled.IsZero() {
			signalled = time.Now()
		}
		if err := p.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(signalled)
	hold.Close()
	if err := p.Wait(); err != nil && took < time.Second { // later, a signal is meant
		t.Errorf("%v: %s", err, stderr)
	}
}

func TestErrorsEndProcess(t *testing.T) {
	for _, c := range []struct {
		program, want string
		args          []string
		code          int
	}{
		{"failing", ": no bundle; no airframe\n", nil, 1},
		{"idle", `: found unknown ROS arguments: "--nonsense"` + "\n", []string{"--ros-args", "--nonsense"}, 1},
		{"panicking", "panic: of the user", nil, 2},
	} {
		t.Run(c.program, func(t *testing.T) {
			p, stdout, stderr := start(t, c.program, c.args...)
			io.Copy(io.Discard, stdout)
			err := p.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != c.code || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("%s %v: %v, %s\nwant %d, %s", c.program, c.args, err, stderr, c.code, c.want)
			}
			if lines := strings.Count(stderr.String(), "\n"); c.code == 1 && lines != 1 {
				t.Errorf("%s: %d lines: %s", c.program, lines, stderr)
			}
		})
	}
}

// Whoever asks a program for help starts no node.
func TestHelp(t *testing.T) {
	for _, arg := range []string{"--help", "-h"} {
		p, stdout, stderr := start(t, "idle", arg)
		out, err := io.ReadAll(stdout)
		if err := errors.Join(err, p.Wait()); err != nil || stderr.String() != "" ||
			!strings.HasPrefix(string(out), "Usage: ") || strings.Contains(string(out), "spinning") {
			t.Errorf("%s: %v, %q, %s", arg, err, out, stderr)
		}
	}
}

// Run ends with its ctx, on one goroutine and on several.
func TestRun(t *testing.T) {
	for threads := range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		o := ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs"}, Threads: threads,
			Backend: ros.InProcess(inproc.NewDomain())}
		err := ros.Run(ctx, o, func(_ context.Context, c *ros.Context) error {
			n, err := c.NewNode("n")
			if err != nil {
				return err
			}
			received := listen(t, n, "x")
			pub := publisher(t, n, "x")
			n.Post(func() {
				if err := pub.Publish(&stdmsgs.String{Data: "hello"}); err != nil {
					t.Error(err)
				}
			})
			go func() {
				receive(t, received)
				cancel()
			}()
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
