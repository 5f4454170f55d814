package store

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vnd/pkg/vnd/bundle"
)

func newBundle(t testing.TB, k int, parent string) *bundle.Bundle {
	t.Helper()
	b := &bundle.Bundle{Robot: "quadrotor", Parent: parent, Dt: 0.02,
		Tensors: []bundle.Tensor{{Name: "w", Shape: []int{1}, Data: []float32{float32(k)}}}}
	if _, err := b.Encode(); err != nil {
		t.Fatal(err)
	}
	return b
}

func clock() time.Time { return time.Unix(1_700_000_000, 0) }

func open(t testing.TB, dir string, keep int) *Store {
	t.Helper()
	s, notes, err := Open(dir, keep, clock)
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	return s
}

// fill promotes n bundles, of which some flew.
func fill(t testing.TB, s *Store, n int, flown ...int) (ids []string) {
	t.Helper()
	parent := ""
	for k := range n {
		b := newBundle(t, k, parent)
		if err := s.Promote(b); err != nil {
			t.Fatal(err)
		}
		parent = b.ID
		ids = append(ids, parent)
		if slices.Contains(flown, k) {
			if err := s.Flew(parent); err != nil {
				t.Fatal(err)
			}
		}
	}
	return ids
}

func files(t testing.TB, dir string) (out []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		out = append(out, strings.TrimSuffix(filepath.Base(f), suffix))
	}
	return out
}

// TestReturn: back to the one before, or to the last that flew safely; also after a restart.
func TestReturn(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 10)
	if _, err := s.RollBack("x", false); err == nil || s.Current() != nil {
		t.Error("an empty store has something to take back")
	}
	ids := fill(t, s, 5, 0, 1)
	if s.Before() != ids[3] {
		t.Errorf("before: %s", s.Before())
	}
	if b, err := s.RollBack("worse", false); err != nil || b.ID != ids[3] || s.Current().ID != ids[3] {
		t.Errorf("back to %v, %v", b, err)
	}
	s.Close()
	s = open(t, dir, 10)
	if s.Current().ID != ids[3] || s.Before() != ids[2] {
		t.Errorf("after a restart %s flies, before it %s", s.Current().ID, s.Before())
	}
	if b, err := s.RollBack("asked", true); err != nil || b.ID != ids[1] {
		t.Errorf("back to %v, %v", b, err)
	}
	next := newBundle(t, 9, ids[1])
	if err := s.Promote(next); err != nil || s.Before() != ids[1] {
		t.Errorf("what was taken back came between: %s, %v", s.Before(), err)
	}
	why := []string{"", "", "asked", "asked", "worse", ""}
	for i, e := range s.Entries() {
		if e.RolledBack != why[i] {
			t.Errorf("entry %d: withdrawn %q, expected %q", i, e.RolledBack, why[i])
		}
	}
	for range 2 {
		if _, err := s.RollBack("asked", false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.RollBack("asked", false); err == nil || !strings.Contains(err.Error(), "no older one") {
		t.Errorf("behind the first: %v", err)
	}
	s.Close()
}

// TestKeeps: of many, the newest stay, and those that are needed.
func TestKeeps(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 3)
	ids := fill(t, s, 8, 2)
	want := []string{ids[2], ids[6], ids[7]}
	got := files(t, dir)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%v stay, expected %v", got, want)
	}
	if _, _, err := Open(dir, 3, clock); err == nil || !strings.Contains(err.Error(), "holds it") {
		t.Errorf("opened twice: %v", err)
	}
	s.Close()
}

func TestLearned(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 3)
	var all []string
	for k := range mostLearned + 5 {
		all = append(all, fmt.Sprint(k))
	}
	if err := s.Learn(all...); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, dir, 3)
	defer s.Close()
	if s.Learned("4") || !s.Learned("5") || !s.Learned(all[len(all)-1]) {
		t.Error("the newest digests are not those that are known")
	}
}

// TestDamaged: a damaged bundle leaves the one before it flying; a damaged state is refused in one line.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 10)
	ids := fill(t, s, 3)
	s.Close()
	if err := os.Truncate(filepath.Join(dir, ids[2]+suffix), 40); err != nil {
		t.Fatal(err)
	}
	s, notes, err := Open(dir, 10, clock)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], ids[2]+suffix) || s.Current().ID != ids[1] {
		t.Errorf("%q, %v", notes, err)
	}
	s.Close()
	path := filepath.Join(dir, stateName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{", `{"version":2}`, `{"version":1,"current":"x"}`,
		`{"version":1,"bundles":[{"id":"../x"}]}`,
		strings.Replace(string(good), `"current"`, `"corrent"`, 1)} {
		if err := os.WriteFile(path, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(dir, 10, clock); err == nil || !strings.Contains(err.Error(), path) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
		if len(files(t, dir)) != 3 {
			t.Error("bundles were removed for a state that cannot be read")
		}
	}
}

// TestFullDisk: where a bundle cannot be kept, the one before flies on and nothing half-written stays.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 10)
	defer s.Close()
	ids := fill(t, s, 1)
	for _, blocked := range []string{stateName,
		newBundle(t, 7, ids[0]).ID + suffix} { // a folder stands where the file is to be
		path := filepath.Join(dir, blocked)
		was, _ := os.ReadFile(path)
		os.Remove(path)
		if err := os.MkdirAll(filepath.Join(path, "x"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := s.Promote(newBundle(t, 7, ids[0])); err == nil || s.Current().ID != ids[0] || s.Before() != "" {
			t.Errorf("%s: %v, %s flies", blocked, err, s.Current().ID)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if was != nil {
			if err := os.WriteFile(path, was, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := files(t, dir); !slices.Equal(got, ids) {
			t.Errorf("%s: %v stay", blocked, got)
		}
	}
}

// TestKilled kills a process that promotes and takes back without end, at moments of chance: what it had said is so,
// and every file is whole.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("VND_TEST_SHELF"); dir != "" {
		promoteForever(t, dir)
		return
	}
	dir := t.TempDir()
	for run := range 3 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$", "-test.v")
		cmd.Env = append(os.Environ(), "VND_TEST_SHELF="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		last := ""
		n := 0
		lines := bufio.NewScanner(out)
		for n < 7+5*run && lines.Scan() {
			if id, ok := strings.CutPrefix(lines.Text(), "flies "); ok {
				last = id
				n++
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // said before the kill, read after it
			if id, ok := strings.CutPrefix(lines.Text(), "flies "); ok {
				last = id
			}
		}
		_ = cmd.Wait() // says that it was killed
		s := open(t, dir, 4)
		entries := s.Entries()
		// What flies is what was said last, or what was done and not said yet: the next promoted, or the one before.
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == last })
		now := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == s.Current().ID })
		if n == 0 || i < 0 || now < i-1 || now > i+1 {
			t.Errorf("%s was said to fly at place %d, %s flies at %d of %d", last, i, s.Current().ID, now, len(entries))
		}
		if got := files(t, dir); len(got) != len(entries) {
			t.Errorf("%d bundles on disk, %d known", len(got), len(entries))
		}
		for _, e := range entries {
			if _, err := s.Bundle(e.ID); err != nil {
				t.Error(err)
			}
		}
		s.Close()
	}
}

func promoteForever(t *testing.T, dir string) {
	s := open(t, dir, 4)
	for k := len(s.Entries()); ; k++ {
		b := newBundle(t, int(time.Now().UnixNano()%1e7)+k, "")
		if err := s.Promote(b); err != nil {
			t.Fatal(err)
		}
		if k%3 == 2 {
			if _, err := s.RollBack("test", false); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Println("flies", s.Current().ID)
	}
}

// TestModel runs random changes against the plainest model, with restarts.
func TestModel(t *testing.T) {
	if err := flag.Set("rapid.checks", "25"); err != nil { // each change waits for the disk
		t.Fatal(err)
	}
	bundles := make([]*bundle.Bundle, 30)
	for k := range bundles {
		bundles[k] = newBundle(t, k, "")
	}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		s := open(t, dir, 100)
		var stack []string // those that may fly
		for k := range rapid.IntRange(1, 6).Draw(rt, "changes") {
			switch rapid.IntRange(0, 3).Draw(rt, "change") {
			case 0:
				_, err := s.RollBack("x", false)
				if (err == nil) != (len(stack) > 1) {
					rt.Fatalf("rollBack from %d: %v", len(stack), err)
				}
				if err == nil {
					stack = stack[:len(stack)-1]
				}
			case 1:
				s.Close()
				s = open(t, dir, 100)
			default:
				if err := s.Promote(bundles[k]); err != nil {
					rt.Fatal(err)
				}
				stack = append(stack, bundles[k].ID)
			}
			current := ""
			if b := s.Current(); b != nil {
				current = b.ID
			}
			if len(stack) == 0 && current != "" || len(stack) > 0 && current != stack[len(stack)-1] {
				rt.Fatalf("%s flies, expected the last of %v", current, stack)
			}
		}
		s.Close()
	})
}

func FuzzState(f *testing.F) {
	good, _ := json.Marshal(state{Version: version, Current: "a", Entries: []Entry{{ID: "a"}}})
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		var s state
		if s.parse(data) == nil && s.Current != "" && s.find(s.Current) < 0 {
			t.Errorf("%q is taken", data)
		}
	})
}
