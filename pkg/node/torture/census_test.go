package torture

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// quantities are counted of each process; a growth per hour that is more than most, and clear of its error, is a leak.
var quantities = [...]struct {
	name string
	most float64
}{{"memory, MiB", 8}, {"files", 4}, {"threads", 4}, {"goroutines", 8}}

// census is what a process had at a time; a quantity that is not known is NaN.
type census struct {
	at   time.Time
	life int // of the process, which a kill ends
	has  [len(quantities)]float64
}

// count takes a census of a process.
func (p *process) count(life int) census {
	c := census{at: time.Now(), life: life}
	dir := filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid))
	var pages, resident float64
	threads := math.NaN()
	if text, err := os.ReadFile(filepath.Join(dir, "statm")); err == nil {
		_, _ = fmt.Sscan(string(text), &pages, &resident)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "status")); err == nil {
		_, after, _ := strings.Cut(string(text), "\nThreads:")
		_, _ = fmt.Sscan(after, &threads)
	}
	files, _ := os.ReadDir(filepath.Join(dir, "fd"))
	c.has = [...]float64{resident * float64(os.Getpagesize()) / (1 << 20), float64(len(files)), threads,
		float64(p.log.Goroutines())}
	if c.has[3] == 0 { // the process has not listed them yet
		c.has[3] = math.NaN()
	}
	return c
}

// dead reports whether a process that was started has ended by itself.
func (p *process) dead() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	_, after, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(after, "Z")
}

// warmUp is what the beginning of a process' life says nothing of.
const warmUp = 10 * time.Minute

// settled are the censuses of the second half of a soak that were taken of processes that had warmed up.
func settled(all []census, begun, ended time.Time) (kept []census) {
	first := map[int]time.Time{}
	for _, c := range all {
		if _, known := first[c.life]; !known {
			first[c.life] = c.at
		}
		if c.at.Sub(begun) >= ended.Sub(begun)/2 && c.at.Sub(first[c.life]) >= warmUp {
			kept = append(kept, c)
		}
	}
	return kept
}

// growth is the slope of a quantity within the lives of a process, and its standard error, per hour: NaN where too
// little is known.
func growth(all []census, quantity int) (slope, off float64) {
	type mean struct{ n, t, y float64 }
	lives := map[int]*mean{}
	hours := func(c *census) float64 { return c.at.Sub(all[0].at).Hours() }
	known := func(c *census) bool { return !math.IsNaN(c.has[quantity]) }
	for i := range all {
		if c := &all[i]; known(c) {
			if lives[c.life] == nil {
				lives[c.life] = &mean{}
			}
			m := lives[c.life]
			m.n, m.t, m.y = m.n+1, m.t+hours(c), m.y+c.has[quantity]
		}
	}
	n, tt, ty, yy := 0.0, 0.0, 0.0, 0.0
	for i := range all {
		if c := &all[i]; known(c) {
			m := lives[c.life]
			t, y := hours(c)-m.t/m.n, c.has[quantity]-m.y/m.n
			n, tt, ty, yy = n+1, tt+t*t, ty+t*y, yy+y*y
		}
	}
	free := n - float64(len(lives)) - 1
	if free < 3 || tt == 0 {
		return math.NaN(), math.NaN()
	}
	slope = ty / tt
	return slope, math.Sqrt(max(yy-slope*ty, 0) / free / tt)
}

// leaks reports whether a growth is one.
func leaks(quantity int, slope, off float64) bool { return slope-2*off > quantities[quantity].most }

// A leak is told from what comes and goes, also where the process is started anew, and what a life begins with is none.
func TestGrowth(t *testing.T) {
	begun := time.Unix(1_700_000_000, 0)
	flight := func(perHour float64, lives int) (all []census) {
		for k := range 120 {
			at := begun.Add(time.Duration(k) * time.Minute)
			c := census{at: at, life: k * lives / 120}
			age := float64(k%(120/lives)) / 60
			c.has[0] = 30 + float64(k*7%5) + perHour*age
			if age < warmUp.Hours() {
				c.has[0] = 10
			}
			all = append(all, c)
		}
		return all
	}
	for _, c := range []struct {
		name    string
		perHour float64
		lives   int
		want    bool
	}{{"flat", 0, 1, false}, {"leaks", 20, 1, true}, {"flat, killed twice", 0, 3, false},
		{"leaks, killed twice", 60, 3, true}} {
		t.Run(c.name, func(t *testing.T) {
			all := flight(c.perHour, c.lives)
			slope, off := growth(settled(all, begun, all[len(all)-1].at), 0)
			if math.Abs(slope-c.perHour) > 3*off || leaks(0, slope, off) != c.want {
				t.Errorf("%.1f ± %.1f MiB/h, expected %.1f", slope, off, c.perHour)
			}
		})
	}
	if slope, _ := growth(nil, 0); !math.IsNaN(slope) {
		t.Errorf("%v of nothing", slope)
	}
}

// A process' output is kept to its newest lines, and lists of goroutines are counted, not kept.
func TestOutput(t *testing.T) {
	var o output
	for _, part := range []string{"first\nsec", "ond\n", "SCHED 60000ms: gomaxprocs=2\n  P0: status=1\n  G1: status=4(",
		"select) m=nil\n  G2: status=6() m=nil\n", "  G3: status=4(sleep) m=nil\n", "SCHED 120000ms: gomaxprocs=2\n"} {
		if n, err := o.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if o.String() != "first\nsecond" || o.Goroutines() != 2 {
		t.Errorf("%q, %d goroutines", o.String(), o.Goroutines())
	}
	for range 10_000 {
		_, _ = o.Write([]byte("again and again\n"))
	}
	if len(o.tail) > 2*kept || o.Len() < 160_000 {
		t.Errorf("%d bytes are kept of %d", len(o.tail), o.Len())
	}
}
