package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"vnd/pkg/flight/control"
	"vnd/pkg/sim"
)

// Options of a campaign.
type Options struct {
	Rows    []Row
	Runs    int // per cell
	Seed    uint64
	Workers int // flights at a time
	// Done is called after each run, from one goroutine at a time; nil for nobody.
	Done func(done, all int)
}

// Report is what a campaign came to.
type Report struct {
	Seed    uint64      `json:"seed"`
	Runs    int         `json:"runs_per_cell"`
	Bundle  string      `json:"bundle"`
	By      string      `json:"state_source"` // pose or odometry
	Mocap   float64     `json:"mocap_hz"`
	Rows    []RowReport `json:"rows"`
	Flights int         `json:"flights"`
	Seconds float64     `json:"seconds"`   // on the wall
	Flown   float64     `json:"flown_s"`   // simulated
	Speed   float64     `json:"flights_s"` // flights per second on the wall
}

// RowReport is a line of the table.
type RowReport struct {
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Pass    string          `json:"pass"` // the criterion
	Status  string          `json:"status"`
	Runs    int             `json:"runs"`
	Failed  int             `json:"failed"`
	Hours   float64         `json:"flown_h"`
	Cells   []CellReport    `json:"cells,omitempty"`
	Figures []FigureReport  `json:"figures,omitempty"`
	Worst   []FailureReport `json:"worst,omitempty"` // the worst failures, worst first
}

// Statuses of a row.
const (
	Passed   = "pass"
	Failed   = "FAIL"
	NotFlown = "not flown"
)

// CellReport counts the failures of a cell.
type CellReport struct {
	Cell    string         `json:"cell"`
	Runs    int            `json:"runs"`
	Failed  int            `json:"failed"`
	Reasons map[string]int `json:"reasons,omitempty"` // failed checks by name
}

// FigureReport is the distribution of a figure over the runs of a row.
type FigureReport struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	N      int      `json:"n"`
	Never  int      `json:"never"` // runs in which it never came
	Mean   *float64 `json:"mean"`
	Median *float64 `json:"median"`
	P95    *float64 `json:"p95"`
	Max    *float64 `json:"max"`
}

// FailureReport is a run that failed.
type FailureReport struct {
	Run    string   `json:"run"` // ROW:CELL:RUN, by which it is replayed
	Cell   string   `json:"cell"`
	Fault  string   `json:"fault"`
	Failed []string `json:"failed"`
	excess float64
}

// flown is what is kept of a run.
type flown struct {
	cell    int
	run     string
	label   string
	checks  []Check
	figures []Figure
	seconds float64
}

func (f *flown) failed() bool {
	return slices.ContainsFunc(f.checks, func(c Check) bool { return !c.OK() })
}

// keptFailures of a row are named in its report.
const keptFailures = 5

// Fly flies every row in every cell.
func Fly(ctx context.Context, p *Policies, o Options) (*Report, error) {
	began := time.Now()
	all := 0
	out := &Report{Seed: o.Seed, Runs: o.Runs, Bundle: p.Base.ID, By: control.FromPose,
		Mocap: cmp.Or(p.Mocap, sim.Default().Mocap.Rate)}
	if p.Odometry {
		out.By = control.FromOdometry
	} else if !p.Filter {
		out.By += ", without state_filter"
	}
	for i := range o.Rows {
		all += o.Rows[i].runs(o.Runs)
	}
	tests, err := newTester(ctx)
	if err != nil && !errors.Is(err, errNoSources) {
		return nil, err
	}
	if tests != nil {
		defer tests.close()
	}
	for i := range o.Rows {
		row := &o.Rows[i]
		r, err := report(ctx, p, tests, row, &o, func() {
			if out.Flights++; o.Done != nil {
				o.Done(out.Flights, all)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("row %s: %w", row.ID, err)
		}
		out.Flown += 3600 * r.Hours
		out.Rows = append(out.Rows, r)
	}
	out.Seconds = time.Since(began).Seconds()
	out.Speed = float64(out.Flights) / out.Seconds
	return out, nil
}

// runs is how many a row has, of so many in each cell or of each test.
func (r *Row) runs(each int) (n int) {
	if r.Tests == nil {
		return len(Cells()) * each
	}
	for i := range r.Tests {
		times, _, _ := r.Tests[i].often(each)
		n += times
	}
	return n
}

// report flies a row, and returns its line.
func report(ctx context.Context, p *Policies, tests *tester, row *Row, o *Options, done func()) (RowReport, error) {
	why := errNoSources
	switch {
	case row.Firmware && p.Firmware == nil:
		why = ErrNoFirmware
	case row.Tests == nil:
		results, err := flyRow(ctx, p, row, o, done)
		return summarise(row, results), err
	case tests != nil:
		return tests.fly(ctx, row, o.Runs, done)
	}
	return RowReport{ID: row.ID, Name: row.Name, Status: NotFlown, Pass: why.Error()}, nil
}

// flyRow flies the runs of a row on all workers; results are in the order of cells and numbers.
func flyRow(ctx context.Context, p *Policies, row *Row, o *Options, done func()) ([]flown, error) {
	results := make([]flown, len(Cells())*o.Runs)
	errs := make([]error, len(results))
	jobs := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	for range max(o.Workers, 1) {
		wait.Go(func() {
			for i := range jobs {
				results[i], errs[i] = flyOne(p, row, i/o.Runs, i%o.Runs, o.Seed)
				mu.Lock()
				done()
				mu.Unlock()
			}
		})
	}
	for i := range results {
		if ctx.Err() != nil {
			break
		}
		jobs <- i
	}
	close(jobs)
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("cell %d, run %d: %w", i/o.Runs, i%o.Runs, err)
		}
	}
	return results, nil
}

func flyOne(p *Policies, row *Row, cell, number int, seed uint64) (flown, error) {
	r, checks, err := Replay(p, row, cell, number, seed)
	if err != nil {
		return flown{}, err
	}
	return flown{cell: cell, run: r.Replay(), label: r.Label, checks: checks, figures: r.Figures, seconds: r.End}, nil
}

// Replay flies one run, and holds it to its row's criteria.
func Replay(p *Policies, row *Row, cell, number int, seed uint64) (*Run, []Check, error) {
	r, err := newRun(p, row, cell, number, seed)
	if err != nil {
		return nil, nil, err
	}
	if err := r.Fly(); err != nil {
		return nil, nil, err
	}
	return r, row.Judge(r), nil
}

// summarise makes the line of a row.
func summarise(row *Row, results []flown) RowReport {
	r := RowReport{ID: row.ID, Name: row.Name, Pass: row.Pass, Runs: len(results), Status: Passed}
	for i, c := range Cells() {
		cell := CellReport{Cell: c.String()}
		for k := range results {
			if f := &results[k]; f.cell == i {
				cell.add(f)
			}
		}
		r.Failed += cell.Failed
		r.Cells = append(r.Cells, cell)
	}
	var failures []FailureReport
	for i := range results {
		r.Hours += results[i].seconds / 3600
		if f := &results[i]; f.failed() {
			failures = append(failures, f.failure())
		}
	}
	slices.SortStableFunc(failures, func(a, b FailureReport) int { return cmp.Compare(b.excess, a.excess) })
	r.Worst = failures[:min(len(failures), keptFailures)]
	r.Figures = distributions(results)
	if float64(r.Runs-r.Failed) < row.share()*float64(r.Runs) {
		r.Status = Failed
	}
	return r
}

func (c *CellReport) add(f *flown) {
	c.Runs++
	if !f.failed() {
		return
	}
	c.Failed++
	if c.Reasons == nil {
		c.Reasons = map[string]int{}
	}
	for _, x := range f.checks {
		if !x.OK() {
			c.Reasons[reason(x)]++
		}
	}
}

// reason is a check's name, without the figures of a crash.
func reason(c Check) string {
	if c.Unit == "crash" {
		return "crash"
	}
	return c.Name
}

func (f *flown) failure() FailureReport {
	r := FailureReport{Run: f.run, Cell: Cells()[f.cell].String(), Fault: f.label}
	for _, c := range f.checks {
		if c.OK() {
			continue
		}
		r.excess = max(r.excess, c.excess())
		if c.Unit == "crash" {
			r.excess = max(r.excess, 1e6) // before all others
			r.Failed = append(r.Failed, c.Name)
			continue
		}
		r.Failed = append(r.Failed, c.String())
	}
	return r
}

// distributions of the figures, in the order in which they first come.
func distributions(results []flown) (out []FigureReport) {
	values := map[string][]float64{}
	for i := range results {
		for _, f := range results[i].figures {
			if values[f.Name] == nil {
				out = append(out, FigureReport{Name: f.Name, Unit: f.Unit})
			}
			values[f.Name] = append(values[f.Name], f.Value)
		}
	}
	for i := range out {
		out[i].fill(values[out[i].Name])
	}
	return out
}

func (f *FigureReport) fill(values []float64) {
	slices.Sort(values)
	f.N = len(values)
	for len(values) > 0 && math.IsInf(values[len(values)-1], 1) {
		f.Never++
		values = values[:len(values)-1]
	}
	n := len(values)
	if n == 0 {
		return
	}
	at := func(share float64) *float64 { return &values[min(int(share*float64(n)), n-1)] }
	f.Median, f.P95, f.Max = at(0.5), at(0.95), at(1)
	mean := 0.0
	for _, x := range values {
		mean += x / float64(n)
	}
	f.Mean = &mean
}

// byCell are the failures of each cell: hover, then figure-eight, in growing wind.
func (r *RowReport) byCell() string {
	var counts []string
	for _, c := range r.Cells {
		counts = append(counts, fmt.Sprint(c.Failed))
	}
	return strings.Join(counts, " ")
}

// String is the figure's distribution in words.
func (f FigureReport) String() string {
	if f.Median == nil {
		return fmt.Sprintf("%s: never in %d", f.Name, f.N)
	}
	text := fmt.Sprintf("%s: mean %.4g, median %.3g, p95 %.3g, max %.3g %s", f.Name, *f.Mean, *f.Median, *f.P95,
		*f.Max, f.Unit)
	if f.Never > 0 {
		text += fmt.Sprintf(", never in %d of %d", f.Never, f.N)
	}
	return text
}

// WriteText writes the table, its figures, and the worst failure of each row.
func (r *Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\tinjection\tcriterion\tstatus\tfailed\tof\tby cell\t")
	for i := range r.Rows {
		x := &r.Rows[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t\n", x.ID, x.Name, x.Pass, x.Status, x.Failed, x.Runs, x.byCell())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range r.Rows {
		x := &r.Rows[i]
		for _, f := range x.Figures {
			fmt.Fprintf(w, "%s: %s\n", x.ID, f)
		}
		if x.ID == "false-alarms" {
			fmt.Fprintf(w, "%s: %d in %.1f h\n", x.ID, x.Failed, x.Hours)
		}
	}
	for i := range r.Rows {
		if x := &r.Rows[i]; len(x.Worst) > 0 {
			f := &x.Worst[0]
			fmt.Fprintf(w, "worst of %s: %s, %s, %s: %s\n", x.ID, f.Run, f.Cell, f.Fault, strings.Join(f.Failed, "; "))
		}
	}
	_, err := fmt.Fprintf(w, "%d flights in %.1f s, %.1f a second, %.1f h flown; bundle %s, seed %d\n", r.Flights,
		r.Seconds, r.Speed, r.Flown/3600, r.Bundle, r.Seed)
	return err
}
