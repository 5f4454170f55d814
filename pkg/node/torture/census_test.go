package torture

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vnd/pkg/core/attached"
)

// quantities are counted of each process. None may grow by more than most an hour. A soak of a length that judges one
// has to show that of every process; of a shorter one only a leak counts that is clear of its error.
//
// The 8 MiB are 64 in eight hours, which is what hostile packets may take as well. Go's heap may be twice what lives in
// it, so that half of them may live. A kind of fault comes some eight times an hour with one every 15 s: one that
// leaves a file, a thread or two goroutines behind each time shows.
var quantities = [...]struct {
	name   string
	most   float64
	judged time.Duration
}{{"memory, MiB", 8, 4 * time.Hour}, {"live heap, MiB", 4, 2 * time.Hour}, {"files", 4, judged}, {"threads", 4, judged},
	{"goroutines", 8, judged}}

// judged is the length of a soak that tells what grows. Memory comes and goes by tens of MiB where a process learns or
// is flooded, and needs longer.
const judged = 55 * time.Minute

// lastLife is the end of such a soak, in which no process is killed: each has to be old enough to be judged.
const lastLife = 35 * time.Minute

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
	c.has = [...]float64{resident * float64(os.Getpagesize()) / (1 << 20), p.log.Heap(), float64(len(files)), threads,
		p.log.Goroutines()}
	return c
}

// listing has a process say so often what it has.
func listing(each time.Duration) string {
	return fmt.Sprintf("GODEBUG=gctrace=1,schedtrace=%d,scheddetail=1", each.Milliseconds())
}

// dead reports whether a process that was started has ended by itself.
func (p *process) dead() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	_, after, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(after, "Z")
}

// warmUp is what the beginning of a process' life says nothing of, and span the time of which the least counts: what
// comes and goes within it is no growth.
const (
	warmUp = 10 * time.Minute
	span   = 5 * time.Minute
)

// settled are the least that processes which had warmed up had in each span of a soak but its first third. A span that
// was cut off short by the end does not count: its least may be of a moment in which the process was at work.
func settled(all []census, begun, ended time.Time) (kept []census) {
	first, last := map[int]time.Time{}, map[int]time.Time{}
	for _, c := range all {
		last[c.life] = c.at
	}
	spans := map[[2]int]int{} // by life and number
	for _, c := range all {
		if _, known := first[c.life]; !known {
			first[c.life] = c.at
		}
		age := c.at.Sub(first[c.life])
		if c.at.Sub(begun) < ended.Sub(begun)/3 || age < warmUp {
			continue
		}
		name := [2]int{c.life, int(age / span)}
		if whole := span * time.Duration(name[1]+1); last[c.life].Sub(first[c.life]) < whole-span/4 {
			continue
		}
		i, known := spans[name]
		if !known {
			spans[name] = len(kept)
			kept = append(kept, c)
			continue
		}
		for q, x := range c.has {
			if least := &kept[i].has[q]; math.IsNaN(*least) || x < *least {
				*least = x
			}
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

// verdict is what a growth shows: that a quantity is flat, leaks, or neither.
func verdict(quantity int, slope, off float64) string {
	switch most := quantities[quantity].most; {
	case slope-2*off > most:
		return "leaks"
	case slope+2*off <= most:
		return "flat"
	}
	return "unknown"
}

// wrong reports whether a soak of a length is not to end with a verdict.
func wrong(quantity int, verdict string, length time.Duration) bool {
	return verdict == "leaks" || verdict != "flat" && length >= quantities[quantity].judged
}

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
		want    string
	}{{"flat", 0, 1, "flat"}, {"leaks", 20, 1, "leaks"}, {"flat, killed twice", 0, 3, "flat"},
		{"leaks, killed twice", 60, 3, "leaks"}, {"killed again and again", 0, 12, "unknown"}} {
		t.Run(c.name, func(t *testing.T) {
			all := flight(c.perHour, c.lives)
			slope, off := growth(settled(all, begun, all[len(all)-1].at), 0)
			if got := verdict(0, slope, off); got != c.want || math.Abs(slope-c.perHour) > 3*off+1 {
				t.Errorf("%.1f ± %.1f MiB/h, %s, expected %.1f, %s", slope, off, got, c.perHour, c.want)
			}
		})
	}
	busy := flight(0, 1)
	at := busy[len(busy)-1]
	at.at, at.has[0] = at.at.Add(time.Minute), 60
	if slope, off := growth(settled(append(busy, at), begun, at.at), 0); verdict(0, slope, off) != "flat" {
		t.Errorf("at work in the last moment: %.1f ± %.1f MiB/h", slope, off)
	}
	if slope, _ := growth(nil, 0); !math.IsNaN(slope) {
		t.Errorf("%v of nothing", slope)
	}
	for _, c := range []struct {
		verdict string
		length  time.Duration
		want    bool
	}{{"leaks", time.Minute, true}, {"unknown", time.Minute, false}, {"unknown", time.Hour, true},
		{"flat", time.Hour, false}} {
		if got := wrong(2, c.verdict, c.length); got != c.want {
			t.Errorf("%s after %v: wrong is %v", c.verdict, c.length, got)
		}
	}
}

// leaky is what a process of this test is to leave behind, again and again.
const leaky = "VND_LEAK"

// leak is such a process.
func leak(what string) {
	var held [][]byte
	for {
		fresh := make([]byte, 1<<19)
		for i := 0; i < len(fresh); i += 1 << 10 {
			fresh[i] = 1
		}
		switch what {
		case "live heap, MiB", "memory, MiB":
			held = append(held, fresh)
		case "files":
			_, _ = syscall.Dup(0)
		case "goroutines":
			go func() { select {} }()
		}
		runtime.GC()
		runtime.KeepAlive(held)
		time.Sleep(10 * time.Millisecond)
	}
}

// What a process leaves behind fails a soak, and one that leaves nothing passes it.
func TestSoakFindsWhatAProcessLeavesBehind(t *testing.T) {
	for _, what := range []string{"nothing", "memory, MiB", "live heap, MiB", "files", "goroutines"} {
		t.Run(what, func(t *testing.T) {
			const minutes, each = 70, 30 * time.Millisecond // each stands for a minute
			p := &process{cmd: exec.Command(must(os.Executable())(t)), log: &output{}}
			p.cmd.Env = append(os.Environ(), leaky+"="+what, listing(each/2))
			p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
			if err := attached.Start(p.cmd, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = p.cmd.Process.Kill()
				_ = p.cmd.Wait() // says that it was killed
			}()
			var all []census
			begun := time.Unix(1_700_000_000, 0)
			for k := range minutes {
				time.Sleep(each)
				c := p.count(0)
				c.at = begun.Add(time.Duration(k) * time.Minute)
				all = append(all, c)
			}
			kept := settled(all, begun, all[minutes-1].at)
			for q, x := range quantities {
				slope, off := growth(kept, q)
				shows := verdict(q, slope, off)
				sure := q > 0 && x.name != "threads"
				if x.name == what && shows != "leaks" || what == "nothing" && sure && shows != "flat" {
					t.Errorf("%s: %.1f ± %.1f an hour: %s", x.name, slope, 2*off, shows)
				}
			}
		})
	}
}
