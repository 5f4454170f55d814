package attached

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// long is a program that outlives each test.
func long() *exec.Cmd { return exec.Command("sleep", "120") }

// A program dies with the process that started it, which is killed.
func TestDiesWithUs(t *testing.T) {
	const inside = "VND_TEST_ATTACHED"
	if os.Getenv(inside) != "" {
		c := long()
		c.Stdout = os.Stdout // which it holds open
		if err := Start(c, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		fmt.Println("started")
		_ = c.Wait()
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run", "^TestDiesWithUs$")
	c.Env, c.Stdout = append(os.Environ(), inside+"=1"), w
	if err := errors.Join(c.Start(), w.Close(), r.SetReadDeadline(time.Now().Add(time.Minute))); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // says that it was killed
	if _, err := io.ReadAll(r); err != nil {
		t.Errorf("it lives on: %v", err)
	}
}

// A program outlives the thread of who had it started.
func TestOutlivesAThread(t *testing.T) {
	c := long()
	thread, started := make(chan int, 1), make(chan error, 1)
	var begin func()
	begin = func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends
		if syscall.Gettid() == syscall.Getpid() {
			go begin() // the first thread never ends, and is taken here
			<-t.Context().Done()
			return
		}
		started <- Start(c, syscall.SIGKILL)
		thread <- syscall.Gettid()
	}
	go begin()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	task, end := fmt.Sprintf("/proc/self/task/%d", <-thread), time.Now().Add(time.Minute)
	for there := true; there; time.Sleep(time.Millisecond) {
		_, err := os.Stat(task)
		if there = !errors.Is(err, fs.ErrNotExist); there && time.Now().After(end) {
			t.Fatal("the thread does not end")
		}
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || err.Error() != "signal: terminated" {
		t.Errorf("it ended by %v, expected the signal that was sent last", err)
	}
}

func TestStartSaysWhatIsMissing(t *testing.T) {
	if err := Start(exec.Command("/no/such/program"), syscall.SIGKILL); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
