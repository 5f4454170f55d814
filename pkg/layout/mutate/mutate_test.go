package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const row = "name: a\nfile: x.go\nold: 1\nnew: 2\ntest: ./x -run TestX\n"

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, wrong string }{
		{"one", row, ""},
		{"two with comments", "# first\n\n" + row + "\n# second\n" + strings.Replace(row, "name: a", "name: b", 1), ""},
		{"nothing", "", ""},
		{"new text is empty", strings.Replace(row, "new: 2", "new:", 1), ""},
		{"order", "file: x.go\n", `list:1: want "name:"`},
		{"ends early", "name: a\nfile: x.go\n", `ends before "old:"`},
		{"twice", row + "\n" + row, `"a" is there twice`},
		{"no tests", strings.Replace(row, "./x -run TestX", "", 1), "must not be empty"},
		{"no change", strings.Replace(row, "new: 2", "new: 1", 1), "changes nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse("list", c.text)
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("got %v, want %q", err, c.wrong)
			}
		})
	}
}

func TestApplyWantsOneOccurrence(t *testing.T) {
	m := mutation{name: "a", file: "x.go", old: "a\n\tb", new: "c"}
	for _, c := range []struct{ name, text, want string }{
		{"once", "1 a\n\tb 2", "1 c 2"}, {"never", "a b", ""}, {"twice", "a\n\tb a\n\tb", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := m.apply(c.text); got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestClassify(t *testing.T) {
	fail := errors.New("exit status 1")
	for _, c := range []struct {
		name, output string
		err          error
		want         outcome
		by           string
	}{
		{"passes", "ok  \tvnd/pkg/x\t0.1s\n", nil, survived, ""},
		{"fails", "--- FAIL: TestA (0.0s)\n    --- FAIL: TestA/one (0.0s)\nFAIL\n", fail, noticed, "TestA, TestA/one"},
		{"panics", "panic: index\n\ngoroutine 1\nFAIL\tvnd/pkg/x\t0.1s\n", fail, noticed, "panic: index"},
		{"does not build", "# vnd/pkg/x\nx.go:1\nFAIL\tvnd/pkg/x [build failed]\n", fail, broken, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, by := classify(c.output, c.err), failures(c.output); got != c.want || by != c.by {
				t.Errorf("got %s by %q", got, by)
			}
		})
	}
}

// A module with one function and one test meets every outcome.
func TestRunReportsEachOutcome(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module toy\n\ngo 1.26\n",
		"x.go":   "package toy\n\nfunc twice(a int) int { return 2 * a }\n\nvar unseen = 3\n",
		"x_test.go": "package toy\n\nimport \"testing\"\n\n" +
			"func TestTwice(t *testing.T) {\n\tif twice(2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n",
		"list.txt": "name: noticed\nfile: x.go\nold: 2 * a\nnew: 3 * a\ntest: .\n\n" +
			"name: survives\nfile: x.go\nold: unseen = 3\nnew: unseen = 4\ntest: .\n\n" +
			"name: does not build\nfile: x.go\nold: 2 * a\nnew: 2 * b\ntest: .\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out strings.Builder
	err := run([]string{"-list", "list.txt", "-jobs", "2"}, &out)
	if err == nil || !strings.Contains(err.Error(), "33 % of the mutations were noticed, want 95 %") {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{": TestTwice\n", "3 mutations: 1 noticed, 1 survived, 1 do not build",
		"  survived: survives (x.go)", "  does not build: does not build (x.go)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, &out)
		}
	}
	out.Reset()
	if err := run([]string{"-list", "list.txt", "-match", "^noticed"}, &out); err != nil {
		t.Error(err, out.String())
	}
}

func TestTryRefusesTestsThatSayNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module toy\n\ngo 1.26\n", "x.go": "package toy\n",
		"x_test.go": "package toy\n\nimport \"testing\"\n\nfunc TestIt(*testing.T) {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct {
		name string
		test []string
		want string
	}{
		{"fail anyway", []string{"./nowhere"}, "fails without a mutation"},
		{"are not there", []string{".", "-run", "TestOther"}, "go test . -run TestOther runs no test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mutation{name: "a", file: "x.go", old: "toy", new: "other", test: c.test}
			_, err := tryAll(context.Background(), []mutation{m}, 1, time.Minute, &strings.Builder{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestListFitsSources: every mutation of the list fits the sources of today.
func TestListFitsSources(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	if err := run([]string{"-check"}, &strings.Builder{}); err != nil {
		t.Error(err)
	}
}
