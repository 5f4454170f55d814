package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"vnd/pkg/core/dist"
)

// part says what a process of this test, started by mpirun, is to do.
const part = "VND_MPI_TEST"

func TestMain(m *testing.M) {
	if play := parts[os.Getenv(part)]; play != nil {
		if err := play(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

var parts = map[string]func() error{"exchange": exchange, "crash": crash, "open": open}

// exchange has every rank see what the others brought: little, much, and of different lengths.
func exchange() error {
	w, err := Open()
	if err != nil {
		return err
	}
	if rank, size := Started(); rank != w.Rank() || size != w.Size() {
		return fmt.Errorf("rank %d of %d was started as %d of %d", w.Rank(), w.Size(), rank, size)
	}
	for _, n := range []int{1, 3000, 1 << 20, 7} {
		all := make([]float32, n*w.Size())
		for i := range n {
			all[w.Rank()*n+i] = float32(w.Rank()*n + i)
		}
		if err := dist.Floats(w, all); err != nil {
			return err
		}
		for i, x := range all {
			if x != float32(i) {
				return fmt.Errorf("rank %d has %g at %d of %d", w.Rank(), x, i, len(all))
			}
		}
	}
	all, err := dist.Gather(w, strings.Repeat("x", 10*w.Rank()))
	if err != nil {
		return err
	}
	for rank, text := range all {
		if len(text) != 10*rank {
			return fmt.Errorf("rank %d has %q of rank %d", w.Rank(), text, rank)
		}
	}
	if err := dist.Agree(w, map[int]error{1: errors.New("gone")}[w.Rank()]); err == nil ||
		!strings.HasSuffix(err.Error(), "gone") {
		return fmt.Errorf("rank %d: %v", w.Rank(), err)
	}
	fmt.Printf("rank %d of %d has all\n", w.Rank(), w.Size())
	return w.Close()
}

// open looks for a library that no machine has.
func open() error {
	library = "libmpi-of-nobody.so.40"
	_, err := Open()
	return err
}

// crash is a mistake in Go after MPI has begun: Go's own report of it has to come, and the other rank to end.
func crash() error {
	w, err := Open()
	if err != nil {
		return err
	}
	var nowhere *World
	if w.Rank() == 1 {
		nowhere.size++
	}
	return w.Allgather(make([]byte, w.Size()))
}

// mpirun runs this test's program as n ranks.
func mpirun(t *testing.T, n int, play string) (said string, err error) {
	t.Helper()
	const path = "mpirun"
	if version, err := exec.Command(path, "--version").Output(); err != nil ||
		!bytes.Contains(version, []byte("Open MPI")) {
		t.Skip("no mpirun of Open MPI here: apt-get install openmpi-bin")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--allow-run-as-root", "--oversubscribe", "-n", fmt.Sprint(n), program)
	cmd.Env = append(os.Environ(), part+"="+play)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err = cmd.Run()
	return b.String(), err
}

func TestExchange(t *testing.T) {
	const n = 3
	said, err := mpirun(t, n, "exchange")
	for rank := range n {
		if !strings.Contains(said, fmt.Sprintf("rank %d of %d has all", rank, n)) {
			t.Errorf("rank %d of %d (%v): %s", rank, n, err, said)
		}
	}
	if err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

func TestCrash(t *testing.T) {
	said, err := mpirun(t, 2, "crash")
	if err == nil || !strings.Contains(said, "nil pointer dereference") || !strings.Contains(said, "mpi.crash") {
		t.Errorf("%v: %s", err, said)
	}
}

// What is missing is said, with the package that brings it.
func TestWithoutTheLibrary(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{part + "=open", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"}
	said, err := cmd.Output()
	if want := "rank 1: started with others, and Open MPI's libmpi-of-nobody.so.40 cannot be opened: apt-get install libopenmpi3 ("; err == nil || !strings.HasPrefix(string(said), want) {
		t.Errorf("%v: %s", err, said)
	}
}

// A library that allows no other thread than its own, whose level for that is 0, is refused.
func TestWithoutThreads(t *testing.T) {
	t.Setenv("OMPI_MCA_opal_signal", "")
	for provided, ok := range []bool{false, true, true, true} {
		w := &World{lib: functions{
			initThread: func(_, _ uintptr, _ int32, to *int32) int32 { *to = int32(provided); return 0 },
			commRank:   func(_ uintptr, rank *int32) int32 { *rank = 1; return 0 },
			commSize:   func(_ uintptr, size *int32) int32 { *size = 2; return 0 },
		}}
		if err := w.begin(); (err == nil) != ok || w.rank != 1 || ok && w.size != 2 {
			t.Errorf("level %d: %v, rank %d of %d", provided, err, w.rank, w.size)
		}
	}
}

// Launchers are told apart by what they leave in the environment.
func TestStarted(t *testing.T) {
	for _, c := range []struct {
		env        string
		rank, size int
		foreign    bool
	}{
		{"", 0, 1, false},
		{"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=3", 3, 4, false},
		{"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1", 0, 1, false},
		{"PMIX_RANK=1 SLURM_STEP_NUM_TASKS=2", 1, 2, false},
		{"SLURM_STEP_NUM_TASKS=2", 0, 1, false},
		{"PMI_RANK=1 PMI_SIZE=2", 0, 1, true},
		{"PMI_RANK=0 PMI_SIZE=1", 0, 1, false},
	} {
		for _, name := range []string{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK",
			"SLURM_STEP_NUM_TASKS", "PMI_RANK", "PMI_SIZE"} {
			t.Setenv(name, "")
		}
		for pair := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			t.Setenv(name, value)
		}
		if rank, size := Started(); rank != c.rank || size != c.size || (Foreign() != "") != c.foreign {
			t.Errorf("%q: rank %d of %d, %q", c.env, rank, size, Foreign())
		}
	}
}
