package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/nn/kernel"
)

type doctorCommand struct {
	Config string `placeholder:"F.yaml" help:"Also check this parameter file of a fit."`
	Bundle string `placeholder:"BUNDLE" help:"Also check that this bundle can be used here."`
	Dir    string `default:"." help:"Folder that results are to be written to."`
	examination
}

// finding is one thing that was looked at.
type finding struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, missing (works without, at a cost) or wrong (does not work)
	Detail string `json:"detail"`
	Cost   string `json:"cost,omitempty"` // what it costs, and what to do
}

const (
	stateOK      = "ok"
	stateMissing = "missing"
	stateWrong   = "wrong"
)

// diagnosis is what the doctor found.
type diagnosis struct {
	OK       bool      `json:"ok"` // nothing is wrong
	Findings []finding `json:"findings"`
}

// Run implements `vnd doctor`.
func (d *doctorCommand) Run(c *console) error {
	if d.asked() {
		return d.examine(c)
	}
	all := []finding{build(), kernels(), oneDNN(), arithmetic(), cores(), memory(), writeAccess(d.Dir), demoData(),
		onRclgo()}
	if d.Config != "" {
		all = append(all, configured(d.Config))
	}
	if d.Bundle != "" {
		all = append(all, usable(d.Bundle))
	}
	return diagnosed(c, all)
}

// diagnosed shows what was found, which is no success where something is wrong.
func diagnosed(c *console, all []finding) error {
	r := &diagnosis{OK: true, Findings: all}
	for _, f := range all {
		r.OK = r.OK && f.State != stateWrong
	}
	if err := c.show(r); err != nil {
		return err
	}
	if !r.OK {
		return errUnwell
	}
	return nil
}

// WriteText implements result.
func (d *diagnosis) WriteText(w io.Writer) error {
	for _, f := range d.Findings {
		line := fmt.Sprintf("%-8s %-15s %s", f.State, f.Name, f.Detail)
		if f.Cost != "" {
			line += ": " + f.Cost
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func build() finding {
	detail := fmt.Sprintf("vnd %s, %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "CGO_ENABLED", "vcs.revision", "vcs.modified":
				detail += fmt.Sprintf(", %s=%s", s.Key, s.Value)
			}
		}
	}
	return finding{"build", stateOK, detail, ""}
}

func kernels() finding {
	name := kernel.Name()
	if name == "go" {
		return finding{"kernel", stateMissing, name,
			"fits take many times longer than on C kernels; build with a C compiler and CGO_ENABLED=1, and leave " +
				kernel.Environment + " unset"}
	}
	return finding{"kernel", stateOK, name, ""}
}

func oneDNN() finding {
	name := kernel.Name()
	switch forced := os.Getenv(kernel.Environment); {
	case strings.HasPrefix(name, "onednn"):
		return finding{"oneDNN", stateOK, "its matrix product runs", ""}
	case forced != "":
		return finding{"oneDNN", stateOK, fmt.Sprintf("not used, because %s is %q", kernel.Environment, forced), ""}
	case name == "go":
		return finding{"oneDNN", stateMissing, "not used by a program without C", "see kernel"}
	}
	return finding{"oneDNN", stateMissing, "libdnnl.so.2 and libdnnl.so.3 are not installed",
		"matrix products run on a slower C kernel; apt-get install libdnnl2"}
}

// arithmetic lets the kernel in use multiply two matrices of odd sizes and compares with the plain loop in float64.
func arithmetic() finding {
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
		return finding{"arithmetic", stateWrong, detail,
			"expected 0.001; models would be wrong: set " + kernel.Environment + "=go and report it"}
	}
	return finding{"arithmetic", stateOK, detail, ""}
}

func cores() finding {
	n := kernel.Workers()
	detail := fmt.Sprintf("%d of %d in use", n, runtime.NumCPU())
	if n < 2 {
		return finding{"cores", stateMissing, detail,
			"fits are meant for two or more: within the same minutes they get fewer updates"}
	}
	return finding{"cores", stateOK, detail, ""}
}

// memory reads what Linux says is available; elsewhere it is not known.
func memory() finding {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return finding{"memory", stateOK, "not known on this system", ""}
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
			return finding{"memory", stateMissing, detail, "a fit on an hour of flight may need up to 1 GiB"}
		}
		return finding{"memory", stateOK, detail, ""}
	}
	return finding{"memory", stateOK, "not known on this system", ""}
}

func writeAccess(dir string) finding {
	f, err := os.CreateTemp(dir, ".vnd-")
	if err == nil {
		_, err = f.Write(make([]byte, 4096)) // a full disk makes files, but fills none
		f.Close()
		os.Remove(f.Name())
	}
	if err != nil {
		return finding{"writing", stateWrong, fmt.Sprintf("no files can be written in %s (%v)", dir, cause(err)),
			"nothing could be kept there"}
	}
	return finding{"writing", stateOK, fmt.Sprintf("files can be written in %s", dir), ""}
}

func demoData() finding {
	top, err := checkout()
	if err != nil {
		return finding{"demo", stateMissing, "no " + demoFlights + " in the current directory or above",
			"vnd demo needs --flights DIR"}
	}
	return finding{"demo", stateOK, "flights in " + filepath.Join(top, demoFlights), ""}
}

func configured(path string) finding {
	var cfg fit.Config
	param.Default(&cfg)
	bags := flightlog.DefaultOptions().Config
	err := param.Load(path, fitNode, &cfg)
	if berr := param.Load(path, assembleNode, &bags); err == nil && !errors.Is(berr, param.ErrNoBlock) ||
		errors.Is(err, param.ErrNoBlock) {
		err = berr
	}
	if err == nil {
		err = cfg.Check()
	}
	if err != nil {
		return finding{"config", stateWrong, err.Error(), "a fit would refuse it"}
	}
	return finding{"config", stateOK, path, ""}
}

func usable(path string) finding {
	m, err := load(path)
	if err != nil {
		return finding{"bundle", stateWrong, err.Error(), "it cannot be used"}
	}
	return finding{"bundle", stateOK, fmt.Sprintf("%s is %s, Δt %g s, %d past rows", path, m.id, m.dt, m.rows), ""}
}
