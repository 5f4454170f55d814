// Package mpi joins the processes that Open MPI's mpirun started into a group of ranks.
//
// The library is opened at run time and only under a launcher, so that a program neither needs MPI to be built nor to
// run alone. Handles are those of Open MPI's ABI (libmpi.so.40, versions 3 to 5): the addresses of the library's
// objects, and 1 for MPI_IN_PLACE (its mpi.h).
package mpi

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"github.com/ebitengine/purego"

	"vnd/pkg/core/dist"
)

var library = "libmpi.so.40"

const (
	inPlace  = 1 // MPI_IN_PLACE
	funneled = 1 // MPI_THREAD_FUNNELED: one thread makes all calls
)

// Started says as which of how many processes this one was started by mpirun, or by srun --mpi=pmix: 0 of 1 without
// them.
func Started() (rank, size int) {
	rank, launched := number("OMPI_COMM_WORLD_RANK", "PMIX_RANK")
	size, known := number("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
	if !launched || !known || size < 2 {
		return 0, 1
	}
	return rank, size
}

// Foreign names the launcher of another MPI that started this process among others, with whom it cannot speak; "" if
// there is none.
func Foreign() string {
	n, there := number("PMI_SIZE")
	if _, size := Started(); !there || n < 2 || size > 1 {
		return ""
	}
	return fmt.Sprintf("an mpiexec of MPICH's kind (PMI_SIZE is %d)", n)
}

// number is that in the first of the environment's variables which has one.
func number(names ...string) (n int, there bool) {
	for _, name := range names {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n, true
		}
	}
	return 0, false
}

// World is all processes that were started together. Close ends it.
type World struct {
	rank, size        int
	calls             chan func() // for the one thread that speaks to the library
	lib               functions
	comm, bytes, info uintptr // MPI_COMM_WORLD, MPI_BYTE, MPI_INFO_NULL

	// space is the library's own memory, through which all goes: cards that read and write memory by themselves keep
	// account of what the C library gives back to the system, and do not see Go do it.
	space []byte
}

// functions of MPI. An int of C is an int32, a handle a pointer's number.
type functions struct {
	initThread func(argc, argv uintptr, required int32, provided *int32) int32
	finalize   func() int32
	commRank   func(comm uintptr, rank *int32) int32
	commSize   func(comm uintptr, size *int32) int32
	allgather  func(send uintptr, n int32, sendType uintptr, recv unsafe.Pointer, m int32, recvType, comm uintptr) int32
	allocMem   func(size int, info uintptr, base *unsafe.Pointer) int32
	freeMem    func(base unsafe.Pointer) int32
}

// Open joins the processes that were started with this one.
func Open() (*World, error) {
	rank, _ := Started()
	w := &World{rank: rank, calls: make(chan func())}
	if err := w.load(); err != nil {
		return nil, &dist.Error{Rank: rank, Err: err}
	}
	go func() {
		runtime.LockOSThread()
		for f := range w.calls {
			f()
		}
	}()
	if err := w.call(w.begin); err != nil {
		close(w.calls)
		return nil, err
	}
	return w, nil
}

// load opens the library and finds what is needed of it.
func (w *World) load() error {
	lib, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL) // global: its plugins expect to find it
	if err != nil {
		return fmt.Errorf("started with others, and Open MPI's %s cannot be opened: apt-get install libopenmpi3 (%w)",
			library, err)
	}
	for _, f := range []struct {
		name string
		to   any
	}{
		{"MPI_Init_thread", &w.lib.initThread}, {"MPI_Finalize", &w.lib.finalize}, {"MPI_Comm_rank", &w.lib.commRank},
		{"MPI_Comm_size", &w.lib.commSize}, {"MPI_Allgather", &w.lib.allgather}, {"MPI_Alloc_mem", &w.lib.allocMem},
		{"MPI_Free_mem", &w.lib.freeMem},
	} {
		at, err := purego.Dlsym(lib, f.name)
		if err != nil {
			return fmt.Errorf("%s is not of Open MPI: %w", library, err)
		}
		purego.RegisterFunc(f.to, at)
	}
	for name, to := range map[string]*uintptr{"ompi_mpi_comm_world": &w.comm, "ompi_mpi_byte": &w.bytes,
		"ompi_mpi_info_null": &w.info} {
		if *to, err = purego.Dlsym(lib, name); err != nil {
			return fmt.Errorf("%s is not of Open MPI: %w", library, err)
		}
	}
	return nil
}

// call has the one thread make a call.
func (w *World) call(f func() error) error {
	done := make(chan error)
	w.calls <- func() { done <- f() }
	if err := <-done; err != nil {
		return &dist.Error{Rank: w.rank, Err: err}
	}
	return nil
}

// failed is the error that a function of the library returned as a code, nil for success.
func failed(what string, code int32) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s failed with code %d", what, code)
}

func (w *World) begin() error {
	// Handlers of the library's own for a crash would take the place of Go's.
	os.Setenv("OMPI_MCA_opal_signal", "")
	var provided, rank, size int32
	if err := failed("MPI_Init_thread", w.lib.initThread(0, 0, funneled, &provided)); err != nil {
		return err
	}
	if err := failed("MPI_Comm_rank", w.lib.commRank(w.comm, &rank)); err != nil {
		return err
	}
	w.rank = int(rank)
	if provided < funneled {
		return fmt.Errorf("MPI_Init_thread allows no threads beside its own: its level is %d, expected %d or more",
			provided, funneled)
	}
	err := failed("MPI_Comm_size", w.lib.commSize(w.comm, &size))
	w.size = int(size)
	return err
}

// Rank implements dist.Group.
func (w *World) Rank() int { return w.rank }

// Size implements dist.Group.
func (w *World) Size() int { return w.size }

// Allgather implements dist.Group.
func (w *World) Allgather(all []byte) error {
	n := len(all) / w.size
	if n > math.MaxInt32 {
		return &dist.Error{Rank: w.rank, Err: fmt.Errorf("%d bytes of each rank are to be shared, MPI takes %d at once",
			n, math.MaxInt32)}
	}
	return w.call(func() error {
		if err := failed("MPI_Alloc_mem", w.grow(len(all))); err != nil {
			return err
		}
		copy(w.space[w.rank*n:], all[w.rank*n:][:n])
		code := w.lib.allgather(inPlace, 0, w.bytes, unsafe.Pointer(unsafe.SliceData(w.space)), int32(n), w.bytes,
			w.comm)
		copy(all[:w.rank*n], w.space)
		copy(all[(w.rank+1)*n:], w.space[(w.rank+1)*n:])
		return failed("MPI_Allgather", code)
	})
}

// grow makes the space at least n bytes.
func (w *World) grow(n int) int32 {
	if n <= len(w.space) {
		return 0
	}
	if code := w.free(); code != 0 {
		return code
	}
	const least = 4096
	n = max(n, least)
	var base unsafe.Pointer
	code := w.lib.allocMem(n, w.info, &base)
	if code == 0 {
		w.space = unsafe.Slice((*byte)(base), n)
	}
	return code
}

func (w *World) free() int32 {
	if w.space == nil {
		return 0
	}
	base := unsafe.Pointer(unsafe.SliceData(w.space))
	w.space = nil
	return w.lib.freeMem(base)
}

// Close leaves the group; it returns when all ranks do.
func (w *World) Close() error {
	err := w.call(func() error {
		if err := failed("MPI_Free_mem", w.free()); err != nil {
			return err
		}
		return failed("MPI_Finalize", w.lib.finalize())
	})
	close(w.calls)
	return err
}
