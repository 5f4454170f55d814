//go:build cgo && !nocyclone

package cyclone

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/fastdds"
)

// Another process of these tests is this program with a role.
const roleVariable, xmlVariable, fastVariable = "VND_TEST_ROLE", "VND_TEST_XML", "VND_TEST_FAST"

var roles = map[string]func(dds.Participant) error{"echo": echo, "keep": keep}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	go func() { // ends with its parent, whatever happens to that
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	p, err := join([]byte("enclave=/" + role + ";"))
	if err == nil {
		fmt.Println(p.GUID())
		err = roles[role](p)
	}
	fmt.Fprintln(os.Stderr, role, err)
	os.Exit(1)
}

// join opens a role's participant, on Cyclone DDS or on Fast DDS.
func join(userData []byte) (dds.Participant, error) {
	if os.Getenv(fastVariable) == "" {
		return Open(Config{Domain: 1, XML: os.Getenv(xmlVariable), UserData: userData})
	}
	domain, err := strconv.Atoi(os.Getenv(fastVariable))
	if err != nil {
		return nil, err
	}
	return fastdds.Open(fastdds.Config{Domain: domain, Localhost: true, UserData: userData})
}

func bytesTopic(name string) dds.Topic {
	return dds.Topic{Name: "rt/" + name, Type: "ddstest::msg::dds_::Bytes_"}
}

var keepAll = dds.QoS{Reliability: dds.Reliable, History: dds.KeepAll, MaxBlocking: 10 * time.Second}

// echo sends every sample back.
func echo(p dds.Participant) error {
	r, err := p.NewReader(bytesTopic("ping"), keepAll, nil)
	if err != nil {
		return err
	}
	w, err := p.NewWriter(bytesTopic("pong"), keepAll, nil)
	if err != nil {
		return err
	}
	// A sample may come before its sender's reader is discovered; the answer would be lost.
	for w.Status().Matched == 0 {
		time.Sleep(time.Millisecond)
	}
	return echoForever(p, r, w)
}

func echoForever(p dds.Participant, r dds.Reader, w dds.Writer) error {
	ready := make([]dds.Ready, 0, 8)
	for {
		if _, err := p.Wait(-1, ready); err != nil {
			return err
		}
		var failed error
		if _, err := r.Take(1000, func(s *dds.Sample) {
			if err := w.Write(s.Data, s.Source); err != nil {
				failed = err
			}
		}); err != nil || failed != nil {
			return errors.Join(err, failed)
		}
	}
}

// keep has samples for late readers, and takes none itself.
func keep(p dds.Participant) error {
	q := keepAll
	q.Durability = dds.TransientLocal
	w, err := p.NewWriter(bytesTopic("kept"), q, nil)
	if err != nil {
		return err
	}
	if _, err := p.NewReader(bytesTopic("flood"), keepAll, nil); err != nil {
		return err
	}
	for i := range byte(3) {
		if err := w.Write([]byte{0, 1, 0, 0, i}, 0); err != nil {
			return err
		}
	}
	select {}
}

// other starts a process with a role and returns it with its participant's GUID.
func other(t testing.TB, role, xml string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, xmlVariable+"="+xml)
	return cmd, started(t, role, cmd)
}

// onFastDDS is other on Fast DDS.
func onFastDDS(t testing.TB, role, _ string) (*exec.Cmd, string) {
	t.Helper()
	if err := fastdds.Installed(); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, fmt.Sprintf("%s=%d", fastVariable, wireDomain))
	return cmd, started(t, role, cmd)
}

// started starts a program that ends with its input, and returns its first line.
func started(t testing.TB, name string, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("standard error of %s:\n%.4000s", name, stderr.String())
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		cmd.Wait()
		t.Fatalf("%s did not start: %v\n%s", name, err, stderr.String())
	}
	return strings.TrimSpace(line)
}

// eventually waits until something is true.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	const patience = 30 * time.Second
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func newWriter(t testing.TB, p dds.Participant, topic dds.Topic, q dds.QoS) dds.Writer {
	t.Helper()
	w, err := p.NewWriter(topic, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func newReader(t testing.TB, p dds.Participant, topic dds.Topic, q dds.QoS) dds.Reader {
	t.Helper()
	r, err := p.NewReader(topic, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSamplesOfEverySizeGoToAnotherProcessAndBack(t *testing.T) {
	xml := loopback(newTag(), wireDomain)
	other(t, "echo", xml)
	p := open(t, Config{Domain: 2, XML: xml})
	w, r := newWriter(t, p, bytesTopic("ping"), keepAll), newReader(t, p, bytesTopic("pong"), keepAll)
	eventually(t, "the echo is there", func() bool { return w.Status().Matched == 1 && r.Status().Matched == 1 })
	sizes := []int{1 << 20, 1<<20 + 3}
	for n := 4; n < 300; n++ {
		sizes = append(sizes, n)
	}
	for i, n := range sizes {
		sample := bytes.Repeat([]byte{byte(i)}, n)
		copy(sample, []byte{0, 1, 0, 0})
		if err := w.Write(sample, int64(i+1)*1_000_000_007); err != nil {
			t.Fatal(err)
		}
		done := false
		eventually(t, "the echo", func() bool {
			if _, err := p.Wait(time.Second, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Take(1, func(s *dds.Sample) {
				done = true
				if !bytes.Equal(s.Data, sample) || s.Source != int64(i+1)*1_000_000_007 {
					t.Errorf("%d bytes came back as %d, or others, stamped %d", n, len(s.Data), s.Source)
				}
			}); err != nil {
				t.Fatal(err)
			}
			return done
		})
	}
}

// A killed process and its endpoints disappear from the graph when its lease is over.
// Before, it serves a late reader.
func TestKilled(t *testing.T) {
	xml := loopback(newTag(), wireDomain)
	cmd, guid := other(t, "keep", xml+"<Discovery><LeaseDuration>1s</LeaseDuration></Discovery>")
	p := open(t, Config{Domain: 2, XML: xml})
	q := keepAll
	q.Durability = dds.TransientLocal
	r := newReader(t, p, bytesTopic("kept"), q)
	alive := map[string]dds.Change{}
	follow := func() {
		if _, err := p.Wait(100*time.Millisecond, nil); err != nil {
			t.Fatal(err)
		}
		if err := p.Changes(func(c dds.Change) {
			if c.Alive {
				alive[c.GUID.String()] = c
			} else {
				delete(alive, c.GUID.String())
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the other process and its two endpoints", func() bool {
		follow()
		return string(alive[guid].UserData) == "enclave=/keep;" && len(alive) == 5 && r.Status().Alive == 1
	})
	var got []byte
	eventually(t, "what it kept arrives", func() bool {
		if _, err := r.Take(100, func(s *dds.Sample) { got = append(got, s.Data[4]) }); err != nil {
			t.Fatal(err)
		}
		return len(got) == 3
	})
	if !bytes.Equal(got, []byte{0, 1, 2}) {
		t.Errorf("a late reader took % x, expected 00 01 02", got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other process is gone", func() bool {
		follow()
		return len(alive) == 2
	})
	eventually(t, "its writer is unmatched", func() bool {
		s := r.Status()
		return s.Matched == 0 && s.Alive == 0
	})
}

// A process that is stopped blocks a reliable writer for its MaxBlocking, at most until
// the writer is closed.
func TestStoppedReaderBlocksAWriter(t *testing.T) {
	xml := loopback(newTag(), wireDomain)
	cmd, _ := other(t, "keep", xml+"<Discovery><LeaseDuration>600s</LeaseDuration></Discovery>")
	p := open(t, Config{Domain: 2, XML: xml})
	q := keepAll
	q.MaxBlocking = 20 * time.Millisecond
	w := newWriter(t, p, bytesTopic("flood"), q)
	eventually(t, "the other process is there", func() bool { return w.Status().Matched == 1 })
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	sample := make([]byte, 100_000)
	eventually(t, "a write times out", func() bool {
		err := w.Write(sample, 0)
		if err != nil && !errors.Is(err, dds.ErrTimeout) {
			t.Fatal(err)
		}
		return err != nil
	})
	q.MaxBlocking = dds.Infinite
	patient := newWriter(t, p, bytesTopic("flood"), q)
	eventually(t, "the writers match", func() bool { return patient.Status().Matched == 1 })
	ended := make(chan error, 1)
	wrote := make(chan struct{}, 1)
	go func() {
		for {
			if err := patient.Write(sample, 0); err != nil {
				ended <- err
				return
			}
			select {
			case wrote <- struct{}{}:
			default:
			}
		}
	}()
	for waiting := false; !waiting; { // until no write has ended for a while
		select {
		case <-wrote:
		case <-time.After(300 * time.Millisecond):
			waiting = true
		}
	}
	if err := patient.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, dds.ErrClosed) {
			t.Errorf("a write that waits while its writer is closed: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("a write waits although its writer is closed")
	}
}
