package kernel

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Environment names the variable that forces the kernels of float32: "go" the
// reference, "c" our own C, "onednn" C with oneDNN's matrix product, the last two
// also with an instruction set, as Name gives it. Unset, the fastest that this
// machine has runs.
const Environment = "VND_KERNEL"

var (
	native       bool // the C kernels run
	name         string
	instructions string // of the C kernels
)

// Name says what float32 runs on: "go", or the matrix product and the
// instruction set, such as "onednn avx512" or "c avx2". The numbers of a training
// are the same only where the name is.
func Name() string { return name }

// Instructions is the instruction set of the C kernels, such as "avx2"; empty where the Go reference runs.
func Instructions() string { return instructions }

func init() {
	if err := choose(os.Getenv(Environment)); err != nil {
		fmt.Fprintln(os.Stderr, err) // to run on, with other numbers than were asked for, is worse
		os.Exit(2)
	}
	SetWorkers(runtime.GOMAXPROCS(0))
}

// choose readies the wanted kernels, or leaves everything as it was.
func choose(want string) error {
	product, set, _ := strings.Cut(want, " ")
	switch {
	case want != "" && product != "onednn" && product != "c" && want != "go":
		return fmt.Errorf("%s is %q, want go, c or onednn", Environment, want)
	case !cgoBuilt && want != "" && want != "go":
		return fmt.Errorf("%s is %q, but this binary was built without cgo", Environment, want)
	case !cgoBuilt || want == "go":
		native, name, instructions = false, "go", ""
		return nil
	}
	runs, library, ok := openC(product != "c", set)
	if !ok {
		return fmt.Errorf("%s is %q, but this processor has no kernels for %q", Environment, want, set)
	}
	if product == "onednn" && !library {
		return fmt.Errorf("%s is %q, but libdnnl.so.2 or .3 cannot be opened (Debian: libdnnl2)", Environment, want)
	}
	native, name, instructions = true, "c "+runs, runs
	if library {
		name = "onednn " + runs
	}
	return nil
}
