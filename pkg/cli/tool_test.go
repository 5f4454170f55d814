package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
	"gopkg.in/yaml.v3"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/param"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/learning/fit"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/vnd/bundle"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vnd": Main})
}

// TestScripts runs the commands as a user does. Each script has the folder flights with two recorded flights, a.csv and
// b.csv, and tiny.yaml, a configuration whose fits take a fraction of a second.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"cell": cell, "column": column, "interrupt": interrupt, "json": oneObject, "damage": damage,
			"reshape": reshape,
			"check":   checkPredictions, "cut": cut, "samenumbers": sameNumbers, "job": indexedJob,
		},
	})
}

const tinyConfig = `fit:
  ros__parameters:
    model: {encoder_dense: 8, encoder_hidden: 8, hidden: 8, decoder_hidden: 8, latent: 3}
    train: {updates: 20, batch: 16, workers: 1, minutes: 1000.0} # a busy machine changes nothing
`

func setup(env *testscript.Env) error {
	env.Setenv(kernel.Environment, os.Getenv(kernel.Environment)) // one arithmetic in all of a script
	dir := filepath.Join(env.WorkDir, "flights")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	recorded, err := filepath.Glob(filepath.Join("..", "learning", "openloop", "testdata", "flights", "*.csv"))
	if err != nil {
		return err
	}
	for i, name := range []string{"a.csv", "b.csv"} {
		data, err := os.ReadFile(recorded[i])
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	yardstick, err := filepath.Abs(filepath.Join("..", "learning", "openloop", "testdata", "eval_flights.py"))
	if err != nil {
		return err
	}
	env.Setenv("YARDSTICK", yardstick)
	for name, path := range map[string]string{"FLOWN": filepath.Join("..", "node", "replay", "testdata", "flight"),
		"POLICY": filepath.Join("..", "flight", "control", "testdata", "a.vnd"),
		"ROTORS": madeFlights,
		"LOGS":   filepath.Join("..", "bridge", "logs"),
		"SWEEP":  filepath.Join("..", "..", "examples", "sweep")} {
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		env.Setenv(name, path)
	}
	return os.WriteFile(filepath.Join(env.WorkDir, "tiny.yaml"), []byte(tinyConfig), 0o666)
}

// condition knows what only some machines have.
func condition(name string) (bool, error) {
	switch name {
	case "numpy":
		return exec.Command("python3", "-c", "import numpy").Run() == nil, nil
	case "mpirun":
		said, err := exec.Command("mpirun", "--version").Output()
		return err == nil && bytes.Contains(said, []byte("Open MPI")), nil
	case "smalldisk": // a file system of our own, small enough to fill
		return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=64k", "none",
			os.TempDir()).Run() == nil, nil
	}
	return false, os.ErrInvalid
}

// cell IN OUT LINE COLUMN VALUE: copies a CSV with one field changed; line 0 is all rows, and VALUE then a factor.
func cell(ts *testscript.TestScript, neg bool, args []string) {
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	line, err := strconv.Atoi(args[2])
	ts.Check(err)
	at := slices.Index(strings.Split(lines[0], ","), args[3])
	for i := 1; i < len(lines); i++ {
		fields := strings.Split(lines[i], ",")
		switch {
		case i+1 == line:
			fields[at] = args[4]
		case line == 0:
			x, err := strconv.ParseFloat(fields[at], 64)
			ts.Check(err)
			f, err := strconv.ParseFloat(args[4], 64)
			ts.Check(err)
			fields[at] = strconv.FormatFloat(x*f, 'g', -1, 64)
		}
		lines[i] = strings.Join(fields, ",")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(lines, "\n")+"\n"), 0o666))
}

// column IN OUT COLUMN: copies a CSV without a column.
func column(ts *testscript.TestScript, neg bool, args []string) {
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	at := slices.Index(strings.Split(lines[0], ","), args[2])
	for i := range lines {
		lines[i] = strings.Join(slices.Delete(strings.Split(lines[i], ","), at, at+1), ",")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(lines, "\n")+"\n"), 0o666))
}

// interrupt SIGNAL PATTERN PROGRAM ARGS…: runs the program with a terminal for its standard error and sends the signal
// when what it says there matches; the program has to fail. What it said goes to the file interrupted.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	name, ok := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM,
		"KILL": syscall.SIGKILL}[args[0]]
	if !ok {
		ts.Fatalf("unknown signal %s", args[0])
	}
	pattern := regexp.MustCompile(args[1])
	path, err := exec.LookPath(args[2])
	ts.Check(err)
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	terminal, stderr, err := openTerminal()
	ts.Check(err)
	defer terminal.Close()
	cmd.Stderr = stderr
	ts.Check(cmd.Start())
	stderr.Close()
	var said []byte
	sent := false
	for b := make([]byte, 4096); ; {
		n, err := terminal.Read(b)
		if err != nil { // EIO, once the program has closed its end
			break
		}
		said = append(said, b[:n]...)
		if !sent && pattern.Match(said) {
			sent = true
			ts.Check(cmd.Process.Signal(name))
		}
	}
	if err := cmd.Wait(); err == nil || !sent {
		ts.Fatalf("not interrupted (%v), it said\n%s", err, said)
	}
	// The bar's line is written over, and what is last stays.
	said = bytes.ReplaceAll(said, []byte("\r"), []byte("\n"))
	ts.Check(os.WriteFile(ts.MkAbs("interrupted"), said, 0o666))
}

// openTerminal makes a pseudo-terminal of Linux.
func openTerminal() (terminal, end *os.File, err error) {
	terminal, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if err = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		var number int
		if number, err = unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN); err == nil {
			end, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
		}
	}
	if err != nil {
		terminal.Close()
		return nil, nil, err
	}
	return terminal, end, nil
}

// json FILE [KEY…]: the file is exactly one JSON object, which has the keys.
func oneObject(ts *testscript.TestScript, neg bool, args []string) {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var object map[string]json.RawMessage
	ts.Check(dec.Decode(&object))
	if _, err := dec.Token(); err != io.EOF {
		ts.Fatalf("%s goes on after the object: %v", args[0], err)
	}
	for _, key := range args[1:] {
		if _, ok := object[key]; !ok {
			ts.Fatalf("%s has no %q: %v", args[0], key, object)
		}
	}
}

// damage IN OUT [OLD NEW]: copies a file with one bit flipped in its middle, or with OLD replaced by NEW.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	if len(args) == 4 {
		if !bytes.Contains(data, []byte(args[2])) {
			ts.Fatalf("%s has no %q", args[0], args[2])
		}
		data = bytes.Replace(data, []byte(args[2]), []byte(args[3]), 1)
	} else {
		data[len(data)/2] ^= 1
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}

// reshape IN OUT: copies a bundle with its first matrix transposed: whole and checksummed, but of another model.
func reshape(ts *testscript.TestScript, neg bool, args []string) {
	b, err := bundle.Read(ts.MkAbs(args[0]))
	ts.Check(err)
	for i, t := range b.Tensors {
		if len(t.Shape) == 2 && t.Shape[0] != t.Shape[1] {
			b.Tensors[i].Shape = []int{t.Shape[1], t.Shape[0]}
			ts.Check(bundle.Write(ts.MkAbs(args[1]), b))
			return
		}
	}
	ts.Fatalf("%s has no matrix", args[0])
}

// indexedJob FILE N COMMAND…: the file is an indexed Job of Kubernetes with N completions of the command.
func indexedJob(ts *testscript.TestScript, neg bool, args []string) {
	var job struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Spec       struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    string
			Template       struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct{ Command []string }
				}
			}
		}
	}
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(args[0])), &job))
	pod := &job.Spec.Template.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Spec.CompletionMode != "Indexed" ||
		job.Spec.Completions != args[1] ||
		pod.RestartPolicy != "Never" || len(pod.Containers) != 1 || !slices.Equal(pod.Containers[0].Command, args[2:]) {
		ts.Fatalf("%s is %+v", args[0], job)
	}
}

// TestSecondFit holds that two fits to one bundle do not share a checkpoint.
func TestSecondFit(t *testing.T) {
	out := filepath.Join(t.TempDir(), "b.vnd")
	unlock, err := atomicfile.Lock(out + ".lock") // as the first fit does
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"fit", "--out", out, "-p", "train.updates:=1",
		filepath.Join("..", "learning", "openloop", "testdata", "flights")}
	var said bytes.Buffer
	code := Run(t.Context(), args, io.Discard, &said)
	if want := "vnd fit: write " + out + ": another fit to it is under way\n"; code == 0 || said.String() != want {
		t.Errorf("code %d, it said %q, want %q", code, &said, want)
	}
	unlock()
	if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestParameters holds that every configuration's tags are sound.
func TestParameters(t *testing.T) {
	for _, ptr := range []any{&fit.Config{}, &airframe.Airframe{}, &flightlog.Config{}} {
		if err := param.Check(ptr); err != nil {
			t.Error(err)
		}
	}
}
