package lifecycle_test

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vnd/pkg/ros2/ros/lifecycle"
)

// row is one transition, as printed by `ros2 lifecycle list -a` of ROS 2 Humble.
type row struct {
	id                 int
	label, start, goal string
}

var rowHead = regexp.MustCompile(`^- (\w+) \[(\d+)\]$`)

// transcript reads all transitions, and those listed in state unconfigured.
func transcript(t *testing.T) (all, unconfigured []row) {
	t.Helper()
	f, err := os.Open("testdata/ros2_lifecycle_humble.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var into *[]row
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		switch m := rowHead.FindStringSubmatch(line); {
		case line == "$ ros2 lifecycle list -a /lc":
			into = &all
		case line == "$ ros2 lifecycle list /lc":
			into = &unconfigured
		case strings.HasPrefix(line, "$"):
			into = nil
		case into == nil:
		case m != nil:
			id, _ := strconv.Atoi(m[2])
			*into = append(*into, row{id: id, label: m[1]})
		case strings.HasPrefix(line, "\tStart: "):
			(*into)[len(*into)-1].start = strings.TrimPrefix(line, "\tStart: ")
		case strings.HasPrefix(line, "\tGoal: "):
			(*into)[len(*into)-1].goal = strings.TrimPrefix(line, "\tGoal: ")
		}
	}
	if len(all) != 25 || len(unconfigured) != 2 {
		t.Fatalf("%d and %d transitions in the transcript, expected 25 and 2", len(all), len(unconfigured))
	}
	return all, unconfigured
}

func rows(ts []lifecycle.Transition) []row {
	var out []row
	for _, t := range ts {
		out = append(out, row{int(t.ID), t.Label, t.Start.String(), t.Goal.String()})
	}
	return out
}

func TestGraphIsThatOfROS(t *testing.T) {
	all, unconfigured := transcript(t)
	if got := rows(lifecycle.Transitions()); !slices.Equal(got, all) {
		t.Errorf("graph\n got %v\nwant %v", got, all)
	}
	if got := rows(lifecycle.From(lifecycle.Unconfigured)); !slices.Equal(got, unconfigured) {
		t.Errorf("from unconfigured\n got %v\nwant %v", got, unconfigured)
	}
}

// The ids of lifecycle_msgs/msg/State.
func TestStates(t *testing.T) {
	want := "0 unknown, 1 unconfigured, 2 inactive, 3 active, 4 finalized, 10 configuring, 11 cleaningup, " +
		"12 shuttingdown, 13 activating, 14 deactivating, 15 errorprocessing"
	var got []string
	for _, s := range lifecycle.States() {
		got = append(got, strconv.Itoa(int(s))+" "+s.String())
	}
	if g := strings.Join(got, ", "); g != want {
		t.Errorf("got %s\nwant %s", g, want)
	}
	if s := lifecycle.State(77).String(); s != "state 77" {
		t.Errorf("state 77 is called %q", s)
	}
}

var resting = map[string]bool{"unconfigured": true, "inactive": true, "active": true, "finalized": true}

// model is a state machine on the transcript's table.
type model struct {
	table []row
	state string
}

func (m *model) step(match func(row) bool) (row, bool) {
	for _, r := range m.table {
		if r.start == m.state && match(r) {
			m.state = r.goal
			return r, true
		}
	}
	return row{}, false
}

// change is the behaviour of a ROS node: id is requested, and its callbacks return results in turn.
func (m *model) change(id int, results []string) (path []row, ran int) {
	r, ok := m.step(func(r row) bool { return r.id == id })
	if !ok {
		return nil, 0
	}
	path = append(path, r)
	for !resting[m.state] {
		label := "transition_" + results[ran]
		ran++
		r, _ = m.step(func(r row) bool { return r.label == label })
		path = append(path, r)
	}
	return path, ran
}

func TestRandomWalks(t *testing.T) {
	table, _ := transcript(t)
	words := []string{"success", "failure", "error"}
	random := rand.New(rand.NewPCG(1, 2))
	visits := map[string]int{}
	for walk := range 10_000 {
		m := lifecycle.New()
		want := &model{table, "unconfigured"}
		for range 1 + random.IntN(12) {
			id := random.IntN(9)
			if random.IntN(20) == 0 {
				id = random.IntN(256)
			}
			// Success is more frequent, or walks would be short.
			draw := func() int { return max(0, random.IntN(6)-3) }
			results := []int{draw(), draw()}
			path, ran := want.change(id, []string{words[results[0]], words[results[1]]})

			var got []row
			var states []string
			result, err := m.Change(lifecycle.ID(id), func(s lifecycle.State) lifecycle.Result {
				states = append(states, s.String())
				return lifecycle.Result(results[len(states)-1])
			}, func(tr lifecycle.Transition) { got = append(got, rows([]lifecycle.Transition{tr})...) })

			if !slices.Equal(got, path) || len(states) != ran || m.State().String() != want.state {
				t.Fatalf("walk %d, transition %d, results %v: in %s after %v, callbacks %v; want %s after %v, %d "+
					"callbacks",
					walk, id, results, m.State(), got, states, want.state, path, ran)
			}
			if refused := len(path) == 0; refused != errors.Is(err, lifecycle.ErrNoTransition) {
				t.Fatalf("walk %d: transition %d in %s: error %v", walk, id, want.state, err)
			}
			if err == nil && result != lifecycle.Result(results[0]) {
				t.Fatalf("walk %d: result %v, want %v", walk, result, results[0])
			}
			for _, r := range path {
				visits[r.start+">"+r.goal]++
			}
		}
	}
	for _, r := range table {
		if visits[r.start+">"+r.goal] == 0 {
			t.Errorf("no walk went from %s to %s", r.start, r.goal)
		}
	}
}

func TestRefusalSaysWhatIsExpected(t *testing.T) {
	m := lifecycle.New()
	_, err := m.Change(lifecycle.Activate, nil, nil)
	if want := "no such transition: 3 in state unconfigured, expected configure (1) or shutdown (5)"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	// While a callback runs, no other transition begins.
	_, err = m.Change(lifecycle.Configure, func(lifecycle.State) lifecycle.Result {
		_, err := m.Change(lifecycle.Configure, nil, nil)
		if want := "no such transition: 1 in state configuring, expected its callback to end"; err == nil ||
			err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		return lifecycle.Success
	}, func(lifecycle.Transition) {})
	if err != nil || m.State() != lifecycle.Inactive {
		t.Errorf("in %v, %v", m.State(), err)
	}
	nothing := func(lifecycle.Transition) {}
	ok := func(lifecycle.State) lifecycle.Result { return lifecycle.Success }
	if _, err := m.Change(lifecycle.InactiveShutdown, ok, nothing); err != nil {
		t.Fatal(err)
	}
	_, err = m.Change(lifecycle.Configure, ok, nothing)
	if want := "no such transition: 1 in state finalized, expected none: the state is final"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestByLabel(t *testing.T) {
	for s, id := range map[lifecycle.State]lifecycle.ID{
		lifecycle.Unconfigured: 5, lifecycle.Inactive: 6, lifecycle.Active: 7,
	} {
		if tr, ok := lifecycle.ByLabel(s, "shutdown"); !ok || tr.ID != id {
			t.Errorf("shutdown from %s is %d (%v), want %d", s, tr.ID, ok, id)
		}
	}
	if _, ok := lifecycle.ByLabel(lifecycle.Finalized, "shutdown"); ok {
		t.Error("a finalized node was to be shut down")
	}
}
