package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/viz/plot"
)

type benchScale struct {
	Envs      []int  `default:"64,128,256,512,1024" help:"Environments, with commas between, at --horizon-at steps."`
	Horizon   []int  `default:"25,50,125,250" help:"Steps of an episode, with commas between, in --envs-at environments."`
	HorizonAt int    `default:"50" help:"Steps while the environments change."`
	EnvsAt    int    `default:"256" help:"Environments while the steps change."`
	Hidden    int    `default:"256" help:"Units of the policy's two hidden layers."`
	Batch     int    `default:"2048" help:"Contexts of the fit's update."`
	Among     int    `default:"2" help:"Threads, and ranks of one thread each, beside one thread alone."`
	Epochs    int    `default:"7" help:"Epochs of each run, of which the first two are not timed."`
	Rounds    int    `default:"5" help:"Rounds, in which all are run in turns."`
	Plot      string `placeholder:"F.png" help:"Draw the times."`
}

// way is how the work is done: by threads of one process, or by ranks of one thread each.
type way struct{ threads, ranks int }

func (w way) String() string {
	switch {
	case w.ranks > 1:
		return fmt.Sprintf("%d ranks", w.ranks)
	case w.threads > 1:
		return fmt.Sprintf("%d threads", w.threads)
	}
	return "1 thread"
}

// scaleResult is how long epochs took, in each way.
type scaleResult struct {
	Ways []string      `json:"ways"`
	Rows []scaledEpoch `json:"rows"`
	// Exponents of environments and steps, of which one thread's time is a power: 1 is in proportion.
	ByEnvs    float64 `json:"exponent_envs"`
	ByHorizon float64 `json:"exponent_horizon"`
	Rounds    int     `json:"rounds"`
	Kernel    string  `json:"kernel"`
	File      string  `json:"file,omitempty"`
}

// scaledEpoch is the work of one epoch and its times.
type scaledEpoch struct {
	Bench   string    `json:"bench"` // policy or fit
	Envs    int       `json:"envs,omitempty"`
	Horizon int       `json:"horizon,omitempty"`
	Batch   int       `json:"batch,omitempty"`
	Epoch   []float64 `json:"epoch_s"` // of each way: median over the rounds of a run's median
	Faster  []float64 `json:"faster"`  // than one thread: median over the rounds of the ratio within one

	args []string
	seen [][]float64 // of each way, a run's median in each round
}

// Run implements `vnd bench scale`.
func (b *benchScale) Run(c *console) error {
	if slices.Min(append(b.Envs, b.EnvsAt)) < 1 || slices.Min(append(b.Horizon, b.HorizonAt)) < 1 || b.Among < 2 ||
		b.Epochs < 3 || b.Rounds < 1 {
		return errors.New("expected at least one environment and step, two threads and ranks, three epochs and " +
			"one round")
	}
	for _, sizes := range [][]int{b.Envs, b.Horizon} {
		if slices.Min(sizes) == slices.Max(sizes) {
			return errors.New("--envs and --horizon: expected two sizes or more of each")
		}
	}
	ways := []way{{1, 1}, {b.Among, 1}, {1, b.Among}}
	r := &scaleResult{Rows: b.rows(len(ways)), Rounds: b.Rounds}
	for _, w := range ways {
		r.Ways = append(r.Ways, w.String())
	}
	bar := c.newBar("scale")
	defer bar.done()
	done, all := 0, b.Rounds*len(r.Rows)*len(ways)
	for range b.Rounds {
		for i := range r.Rows {
			for k, w := range ways {
				ran, err := c.bench(w, r.Rows[i].args)
				if err != nil {
					return err
				}
				r.Rows[i].seen[k] = append(r.Rows[i].seen[k], ran.Epoch)
				r.Kernel = ran.Kernel
				done++
				bar.at(float64(done)/float64(all), "")
			}
		}
	}
	for i := range r.Rows {
		r.Rows[i].summarise()
	}
	r.ByEnvs, r.ByHorizon = r.exponent(b.byEnvs), r.exponent(b.byHorizon)
	if b.Plot != "" {
		r.File = b.Plot
		if err := atomicfile.WriteFile(b.Plot, func(w io.Writer) error { return b.draw(w, r) }); err != nil {
			return err
		}
	}
	bar.done()
	return c.show(r)
}

// rows are the works that are timed, each once.
func (b *benchScale) rows(ways int) (rows []scaledEpoch) {
	epochs := []string{"--epochs", strconv.Itoa(b.Epochs)}
	policy := func(envs, horizon int) {
		if slices.ContainsFunc(rows, func(r scaledEpoch) bool { return r.Envs == envs && r.Horizon == horizon }) {
			return
		}
		rows = append(rows, scaledEpoch{Bench: "policy", Envs: envs, Horizon: horizon, seen: make([][]float64, ways),
			args: append([]string{"policy", "--envs", strconv.Itoa(envs), "--horizon", strconv.Itoa(horizon),
				"--hidden", strconv.Itoa(b.Hidden)}, epochs...)})
	}
	for _, envs := range b.Envs {
		policy(envs, b.HorizonAt)
	}
	for _, horizon := range b.Horizon {
		policy(b.EnvsAt, horizon)
	}
	return append(rows, scaledEpoch{Bench: "fit", Batch: b.Batch, seen: make([][]float64, ways),
		args: append([]string{"fit", "--batch", strconv.Itoa(b.Batch)}, epochs...)})
}

// bench runs `vnd bench` in a process, or several, of its own.
func (c *console) bench(w way, args []string) (*rate, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := slices.Concat([]string{program, "bench"}, args, []string{"--threads", strconv.Itoa(w.threads), "--json"})
	if w.ranks > 1 {
		command = append([]string{"mpirun", "--oversubscribe", "--bind-to", "none", "-n", strconv.Itoa(w.ranks)},
			command...)
	}
	cmd := terminable(c.ctx, command)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	switch {
	case c.ctx.Err() != nil:
		return nil, c.ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("no mpirun here: apt-get install openmpi-bin")
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(said.String()))
	}
	r := new(rate)
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return r, nil
}

// terminable is a command that is asked to end when ctx is done, so that it can end what it has started, and killed
// if it has not by then.
func terminable(ctx context.Context, command []string) *exec.Cmd {
	const patience = 10 * time.Second
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	return cmd
}

func (e *scaledEpoch) summarise() {
	for k := range e.seen {
		ratios := make([]float64, len(e.seen[k]))
		for i, t := range e.seen[k] {
			ratios[i] = e.seen[0][i] / t
		}
		e.Epoch, e.Faster = append(e.Epoch, experiment.Median(e.seen[k])), append(e.Faster, experiment.Median(ratios))
	}
}

// along are the rows in which one size grows, in the order of the sizes.
func (s *scaleResult) along(keep func(e *scaledEpoch) (size int, ok bool)) (sizes []float64, rows []scaledEpoch) {
	for _, e := range s.Rows {
		if _, ok := keep(&e); ok && e.Bench == "policy" {
			rows = append(rows, e)
		}
	}
	slices.SortFunc(rows, func(a, b scaledEpoch) int { x, _ := keep(&a); y, _ := keep(&b); return x - y })
	for _, e := range rows {
		size, _ := keep(&e)
		sizes = append(sizes, float64(size))
	}
	return sizes, rows
}

// exponent is the p of time ~ size^p that fits the times of one thread best.
func (s *scaleResult) exponent(keep func(*scaledEpoch) (int, bool)) float64 {
	sizes, rows := s.along(keep)
	var x, y, xx, xy float64
	for i, size := range sizes {
		a, b := math.Log(size), math.Log(rows[i].Epoch[0])
		x, y, xx, xy = x+a, y+b, xx+a*a, xy+a*b
	}
	n := float64(len(sizes))
	return (n*xy - x*y) / (n*xx - x*x)
}

// WriteText implements result.
func (s *scaleResult) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "| an epoch of |")
	for _, name := range s.Ways {
		fmt.Fprintf(&b, " %s, ms |", name)
	}
	fmt.Fprintf(&b, " µs of one thread for each |")
	for _, name := range s.Ways[1:] {
		fmt.Fprintf(&b, " %s are faster |", name)
	}
	fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("---|", 2*len(s.Ways)))
	for _, e := range s.Rows {
		each := e.Batch
		if e.Bench == "fit" {
			fmt.Fprintf(&b, "| fit, %d contexts |", e.Batch)
		} else {
			each = e.Envs * e.Horizon
			fmt.Fprintf(&b, "| %d environments × %d steps |", e.Envs, e.Horizon)
		}
		for _, t := range e.Epoch {
			fmt.Fprintf(&b, " %.1f |", 1e3*t)
		}
		fmt.Fprintf(&b, " %.2f |", 1e6*e.Epoch[0]/float64(each))
		for _, f := range e.Faster[1:] {
			fmt.Fprintf(&b, " %.2f × |", f)
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "\nMedian of %d rounds in turns, %s. The time of one thread goes with the environments to the "+
		"power of %.2f, with the steps to that of %.2f.\n",
		s.Rounds, s.Kernel, s.ByEnvs, s.ByHorizon)
	_, err := io.WriteString(w, b.String())
	return err
}

func (b *benchScale) byEnvs(e *scaledEpoch) (int, bool)    { return e.Envs, e.Horizon == b.HorizonAt }
func (b *benchScale) byHorizon(e *scaledEpoch) (int, bool) { return e.Horizon, e.Envs == b.EnvsAt }

func (b *benchScale) draw(w io.Writer, r *scaleResult) error {
	panel := func(title string, keep func(*scaledEpoch) (int, bool)) plot.Scaling {
		sizes, rows := r.along(keep)
		p := plot.Scaling{Size: title, Sizes: sizes}
		for k, name := range r.Ways {
			s := plot.Series{Name: name}
			for _, e := range rows {
				s.Values = append(s.Values, 1e3*e.Epoch[k])
			}
			p.Ways = append(p.Ways, s)
		}
		return p
	}
	return plot.TimeAgainstSize(w, "An epoch of policy training", []plot.Scaling{
		panel(fmt.Sprintf("environments, %d steps each", b.HorizonAt), b.byEnvs),
		panel(fmt.Sprintf("steps of %d environments", b.EnvsAt), b.byHorizon),
	})
}
