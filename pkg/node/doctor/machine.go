package doctor

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/nn/kernel"
)

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, missing (works without, at a cost) or wrong (does not work)
	Detail string `json:"detail"`
	Cost   string `json:"cost,omitempty"` // what it costs, and what to do
}

// States of a Check.
const (
	OK      = "ok"
	Missing = "missing"
	Wrong   = "wrong"
)

// Machine looks at the program, of a version, and at the machine that it runs on. dir is to be written to.
func Machine(version, dir string) []Check {
	return []Check{build(version), kernels(), oneDNN(), arithmetic(), cores(), memory(), writeAccess(dir)}
}

func build(version string) Check {
	detail := fmt.Sprintf("vnd %s, %s %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "CGO_ENABLED", "vcs.revision", "vcs.modified":
				detail += fmt.Sprintf(", %s=%s", s.Key, s.Value)
			}
		}
	}
	return Check{"build", OK, detail, ""}
}

func kernels() Check {
	name := kernel.Name()
	if name == "go" {
		return Check{"kernel", Missing, name,
			"fits take many times longer than on C kernels; build with a C compiler and CGO_ENABLED=1, and leave " +
				kernel.Environment + " unset"}
	}
	detail := name + ": flight and validation in float32, training in "
	if kernel.HasBFloat16() {
		return Check{"kernel", OK, detail + "bfloat16 between hidden layers", ""}
	}
	return Check{"kernel", OK, detail + "float32 (no instructions for bfloat16)", ""}
}

func oneDNN() Check {
	name := kernel.Name()
	switch forced := os.Getenv(kernel.Environment); {
	case strings.HasPrefix(name, "onednn"):
		return Check{"oneDNN", OK, "its matrix product runs", ""}
	case forced != "":
		return Check{"oneDNN", OK, fmt.Sprintf("not used, because %s is %q", kernel.Environment, forced), ""}
	case name == "go":
		return Check{"oneDNN", Missing, "not used by a program without C", "see kernel"}
	}
	return Check{"oneDNN", Missing, "libdnnl.so.2 and libdnnl.so.3 are not installed",
		"matrix products run on a slower C kernel; apt-get install libdnnl2"}
}

// arithmetic lets the kernel in use multiply two matrices of odd sizes and compares with the plain loop in float64.
func arithmetic() Check {
	const m, n, k = 37, 61, 53
	rng := rand.New(rand.NewPCG(1, 2))
	a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
	for i := range a {
		a[i] = float32(rng.NormFloat64())
	}
	for i := range b {
		b[i] = float32(rng.NormFloat64())
	}
	kernel.Gemm(false, false, m, n, k, a, k, b, n, 0, c, n)
	worst := 0.0
	for i := range m {
		for j := range n {
			sum := 0.0
			for l := range k {
				sum += float64(a[i*k+l]) * float64(b[l*n+j])
			}
			worst = math.Max(worst, math.Abs(sum-float64(c[i*n+j])))
		}
	}
	detail := fmt.Sprintf("a matrix product is right to %.1g", worst)
	if !(worst < 1e-3) {
		return Check{"arithmetic", Wrong, detail,
			"expected 0.001; models would be wrong: set " + kernel.Environment + "=go and report it"}
	}
	return Check{"arithmetic", OK, detail, ""}
}

func cores() Check {
	n := kernel.Workers()
	detail := fmt.Sprintf("%d of %d in use", n, runtime.NumCPU())
	if n < 2 {
		return Check{"cores", Missing, detail,
			"fits are meant for two or more: within the same minutes they get fewer updates"}
	}
	return Check{"cores", OK, detail, ""}
}

// memory reads what Linux says is available; elsewhere it is not known.
func memory() Check {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return Check{"memory", OK, "not known on this system", ""}
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) < 2 || fields[0] != "MemAvailable:" {
			continue
		}
		kib, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			break
		}
		detail := fmt.Sprintf("%.1f GiB available", kib/(1<<20))
		if kib < 1<<20 {
			return Check{"memory", Missing, detail, "a fit on an hour of flight may need up to 1 GiB"}
		}
		return Check{"memory", OK, detail, ""}
	}
	return Check{"memory", OK, "not known on this system", ""}
}

func writeAccess(dir string) Check {
	f, err := os.CreateTemp(dir, ".vnd-")
	if err == nil {
		_, err = f.Write(make([]byte, 4096)) // a full disk makes files, but fills none
		f.Close()
		os.Remove(f.Name())
	}
	if err != nil {
		return Check{"writing", Wrong, fmt.Sprintf("no files can be written in %s (%v)", dir, atomicfile.Cause(err)),
			"nothing could be kept there"}
	}
	return Check{"writing", OK, fmt.Sprintf("files can be written in %s", dir), ""}
}
