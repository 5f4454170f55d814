package campaign

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// NodeTest is a Go test of nodes that injects the fault of a row. A run of it is one run of the row, or several.
type NodeTest struct {
	Package string // its folder under pkg
	Name    string
	Each    int // injections of a run; 0 is one

	// More has a run go on for MoreEach injections, by an environment variable, where that many are asked for.
	More     string
	MoreEach int

	Most time.Duration // that a run may take; 0 is mostOfTest
}

// Bounds of children: of a test, of the compiler, and of what either leaves behind.
const (
	mostOfTest  = 10 * time.Minute
	mostOfMany  = time.Hour // of a test with many injections
	mostOfBuild = 15 * time.Minute
	grace       = 5 * time.Second
)

// nodeRows live in nodes: with processes, topics, clocks and files. Tests that exist for them are run again and again.
func nodeRows() []Row {
	return []Row{
		{ID: "14", Name: "PX4 clock: delay steps of 50–1000 ms", Pass: "error of age ≤ 20 ms",
			Tests: []NodeTest{{Package: "node/controller", Name: "TestDelayIsNoOffsetOfClocks", Each: 150}}},
		{ID: "17", Name: "/clock stops; use_sim_time set in flight", Pass: "commands end ≤ 0.2 s; refused",
			Tests: []NodeTest{{Package: "node/controller", Name: "TestClockTopicStops", Each: 20},
				{Package: "node", Name: "TestFixWhile"}, {Package: "node", Name: "TestChangesInFlight"}}},
		{ID: "23", Name: "two controllers", Pass: "arm refused; the later one silent ≤ 1 s",
			Tests: []NodeTest{{Package: "node", Name: "TestSecondControllerIsSilent"},
				{Package: "node/controller", Name: "TestLaterControllerIsSilentWhileOthersCommand"}}},
		{ID: "24", Name: "spoofed mocap, a second publisher", Pass: "trip ≤ 100 ms",
			Tests: []NodeTest{{Package: "node/controller", Name: "TestSecondMocapTripsTheGuard"}}},
		{ID: "25", Name: "every parameter and lifecycle change in flight", Pass: "refused, or the robot lands first",
			Tests: []NodeTest{{Package: "node", Name: "TestChangesInFlight"},
				{Package: "node/controller", Name: "TestParametersInFlight"},
				{Package: "node", Name: "TestShutdownLandsFirst"}}},
		{ID: "26", Name: "hostile set_task", Pass: "answer ≤ 1 s, memory + ≤ 50 MB, no file opened",
			Tests: []NodeTest{{Package: "node", Name: "TestHostileOrders", Each: 12}}},
		{ID: "27", Name: "~/land under 1 kHz of other calls", Pass: "answer ≤ 100 ms",
			Tests: []NodeTest{{Package: "node", Name: "TestLandUnderOtherCalls"}}},
		{ID: "31", Name: "SIGKILL of each node", Pass: "inside the fence, joins by itself, loses ≤ 1 s",
			Tests: []NodeTest{{Package: "node/torture", Name: "TestKilled", More: "VND_TORTURE=1", MoreEach: 20,
				Most: mostOfMany}}},
		{ID: "35", Name: "disk full: buffer, bag, bundles", Pass: "flight untouched, ≤ 1 s lost",
			Tests: []NodeTest{{Package: "node/recorder", Name: "TestNoSpace"},
				{Package: "vnd/bundle/store", Name: "TestFullDisk"},
				{Package: "ros2/bag/mcap", Name: "TestFullDiskKeepsCompleteChunks"},
				{Package: "learning/continual/rounds", Name: "TestFullDisk"}}},
		{ID: "36", Name: "power cut: files cut anywhere, processes killed", Pass: "≤ 1 s lost, 0 corrupt accepted",
			Tests: []NodeTest{{Package: "ros2/bag", Name: "TestRecordingCutAnywhereIsRecovered"},
				{Package: "ros2/bag", Name: "TestDiskHasEveryMessageOlderThanASecond"},
				{Package: "vnd/bundle/store", Name: "TestKilled"}, {Package: "node/recorder", Name: "TestKilled"}}},
		{ID: "39", Name: "the pilot takes over, mode known late", Pass: "no command after it, no jolt",
			Tests: []NodeTest{{Package: "flight/control", Name: "TestTakesOverFromTheAutopilot"},
				{Package: "node/controller", Name: "TestHandsOver"}}},
		{ID: "41", Name: "poisoned logs", Pass: "nothing that crashes is promoted",
			Tests: []NodeTest{{Package: "sim/experiment", Name: "TestPoisoned", Each: 4, More: "VND_POISONED=10",
				MoreEach: 40, Most: mostOfMany}}},
		{ID: "42", Name: "two learners, an old folder of bundles", Pass: "second refused; old ones judged anew",
			Tests: []NodeTest{{Package: "learning/continual/rounds", Name: "TestSecondLearnerOnAFolderIsRefused"},
				{Package: "learning/continual/rounds", Name: "TestBundlesOfAnOldFolderAreJudgedBeforeTheyFly"}}},
		{ID: "43", Name: "a stranger without keys, SROS 2 enforced", Pass: "0 effects",
			Tests: []NodeTest{{Package: "ros2/ros", Name: "TestWireSecured"},
				{Package: "ros2/ros", Name: "TestWireSecurityRefused"},
				{Package: "node", Name: "TestFlightUnderThePolicy"}}},
	}
}

// often is how often a test is run for some injections, with what, and how many a run has.
func (t *NodeTest) often(runs int) (times, each int, env []string) {
	each = max(t.Each, 1)
	if t.More != "" && runs >= t.MoreEach {
		each, env = t.MoreEach, []string{t.More}
	}
	return (runs + each - 1) / each, each, env
}

// tester runs tests of the sources that lie around the working directory.
type tester struct {
	root, dir string            // of the module, and of programs
	built     map[string]string // programs by package
	grace     time.Duration     // for what a test leaves behind
}

var errNoSources = errors.New("needs the sources of vnd around the working directory, and go")

func newTester(ctx context.Context) (*tester, error) {
	list := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	list.Stderr = io.Discard
	out, err := outputOf(ctx, list, mostOfBuild, grace)
	root, ours := strings.CutPrefix(strings.TrimSpace(string(out)), "vnd ")
	if err != nil || !ours {
		return nil, errNoSources
	}
	dir, err := os.MkdirTemp("", "vnd_campaign")
	return &tester{root, dir, map[string]string{}, grace}, err
}

func (t *tester) close() error { return os.RemoveAll(t.dir) }

// program is that of a package's tests.
func (t *tester) program(ctx context.Context, pkg string) (string, error) {
	if p := t.built[pkg]; p != "" {
		return p, nil
	}
	p := filepath.Join(t.dir, strings.ReplaceAll(pkg, "/", "_")+".test")
	build := exec.Command("go", "test", "-c", "-o", p, "./pkg/"+pkg)
	build.Dir = t.root
	if out, err := outputOf(ctx, build, mostOfBuild, grace); err != nil {
		return "", fmt.Errorf("pkg/%s: %w: %s", pkg, err, out)
	}
	t.built[pkg] = p
	return p, nil
}

// fly runs the tests of a row, and returns its line.
func (t *tester) fly(ctx context.Context, row *Row, runs int, done func()) (RowReport, error) {
	r := RowReport{ID: row.ID, Name: row.Name, Pass: row.Pass, Status: Passed}
	skipped := ""
	for i := range row.Tests {
		x := &row.Tests[i]
		times, each, env := x.often(runs)
		c := CellReport{Cell: "pkg/" + x.Package + " " + x.Name}
		for n := range times {
			verdict, lines, err := t.run(ctx, x, env)
			if err != nil {
				return r, err
			}
			done()
			if verdict == "SKIP" {
				skipped = strings.Join(lines, "; ")
				break
			}
			if c.Runs += each; verdict != "PASS" {
				c.Failed++
				f := FailureReport{Run: fmt.Sprintf("%s:%d:%d", row.ID, i, n), Cell: c.Cell, Failed: lines}
				r.Worst = append(r.Worst, f)
			}
		}
		r.Cells, r.Runs, r.Failed = append(r.Cells, c), r.Runs+c.Runs, r.Failed+c.Failed
	}
	r.Worst = r.Worst[:min(len(r.Worst), keptFailures)]
	switch {
	case r.Failed > 0:
		r.Status = Failed
	case skipped != "":
		r.Status, r.Pass = NotFlown, "skipped here: "+skipped
	}
	return r, nil
}

var (
	verdicts = regexp.MustCompile(`^--- (PASS|FAIL|SKIP): `)
	messages = regexp.MustCompile(`^ +([a-z_0-9]+_test\.go:\d+: .*)`)
)

// run is one run of a test: PASS, FAIL or SKIP, and what it wrote.
func (t *tester) run(ctx context.Context, x *NodeTest, env []string) (verdict string, lines []string, err error) {
	p, err := t.program(ctx, x.Package)
	if err != nil {
		return "", nil, err
	}
	most := x.Most
	if most == 0 {
		most = mostOfTest
	}
	c := exec.Command(p, "-test.v", "-test.run", "^"+x.Name+"$", "-test.timeout", most.String())
	c.Dir, c.Env = filepath.Join(t.root, "pkg", filepath.FromSlash(x.Package)), append(os.Environ(), env...)
	out, ran := outputOf(ctx, c, most+t.grace, t.grace)
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	if errors.Is(ran, errUnending) {
		return "FAIL", []string{ran.Error()}, nil
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if m := verdicts.FindStringSubmatch(s.Text()); m != nil {
			verdict = m[1]
		}
		if m := messages.FindStringSubmatch(s.Text()); m != nil && len(lines) < 2 {
			lines = append(lines, shortened(m[1]))
		}
	}
	switch {
	case verdict == "" && ran == nil:
		return "", nil, fmt.Errorf("pkg/%s has no test %s", x.Package, x.Name)
	case ran != nil:
		verdict = "FAIL"
		if len(lines) == 0 {
			lines = []string{shortened(string(out))}
		}
	}
	return verdict, lines, nil
}

var errUnending = errors.New("a child does not end")

// outputOf runs a child in a process group of its own, and returns what the group wrote. Nothing of the group outlives
// the call: not when the child takes longer than most, and not when it leaves processes behind that hold its output
// for longer than grace.
func outputOf(ctx context.Context, c *exec.Cmd, most, grace time.Duration) ([]byte, error) {
	var out bytes.Buffer
	c.Stdout = &out
	if c.Stderr == nil {
		c.Stderr = &out
	}
	c.SysProcAttr, c.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, grace
	if err := c.Start(); err != nil {
		return nil, err
	}
	group := -c.Process.Pid
	var late atomic.Bool
	over := time.AfterFunc(most, func() {
		late.Store(true)
		_ = syscall.Kill(group, syscall.SIGKILL)
	})
	defer over.Stop()
	defer context.AfterFunc(ctx, func() { _ = syscall.Kill(group, syscall.SIGKILL) })()
	err := c.Wait()
	_ = syscall.Kill(group, syscall.SIGKILL)
	switch {
	case late.Load():
		return out.Bytes(), fmt.Errorf("%w: %s was not done in %v", errUnending, filepath.Base(c.Path), most)
	case errors.Is(err, exec.ErrWaitDelay):
		return out.Bytes(), fmt.Errorf("%w: %s left processes behind, which held its output for %v", errUnending,
			filepath.Base(c.Path), c.WaitDelay)
	}
	return out.Bytes(), err
}

// shortened is the beginning of a text, on one line of a table.
func shortened(text string) string {
	const most = 160
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "/")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + " …"
	}
	return text
}
