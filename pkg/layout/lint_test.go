package layout_test

import (
	"bufio"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "lower the counts of testdata/*.txt to what is found; no rule's total may grow")

// root is the module's folder.
var root = filepath.Join("..", "..")

// finding is one breach of a rule.
type finding struct {
	rule string
	file string // below the module's folder, with slashes
	line int    // 1 for the whole file
	text string
}

// key is a line of an exceptions file: one rule in one place, a page or a package's folder.
type key struct{ rule, place string }

// keyOf returns the place of a page as it is, and of a source its folder, so that files can be split and renamed.
func keyOf(f finding) key {
	if path.Ext(f.file) == ".md" {
		return key{f.rule, f.file}
	}
	return key{f.rule, path.Dir(f.file)}
}

// exceptions holds how many findings of a rule a place may have until it is mended.
// Lists only shrink: findings beyond the count fail, and so does a count that nothing needs.
type exceptions map[key]int

// readExceptions reads lines of rule, count and place. Of a line written twice, as a merge of two branches may leave
// it, the lower count holds.
func readExceptions(name string) (exceptions, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	list := exceptions{}
	scan := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; scan.Scan(); n++ {
		text := strings.TrimSpace(scan.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		var k key
		var count int
		if _, err := fmt.Sscanf(text, "%s %d %s", &k.rule, &count, &k.place); err != nil || count < 1 {
			return nil, fmt.Errorf("%s:%d: want rule, count and place, got %q", name, n, text)
		}
		if old, twice := list[k]; twice {
			count = min(count, old)
		}
		list[k] = count
	}
	return list, nil
}

func (e exceptions) write(name string) error {
	var out strings.Builder
	out.WriteString("# rule, count, place. Only ever shrinks: go test ./pkg/layout -update\n")
	for _, k := range slices.SortedFunc(maps.Keys(e), compareKeys) {
		fmt.Fprintf(&out, "%s %d %s\n", k.rule, e[k], k.place)
	}
	return os.WriteFile(name, []byte(out.String()), 0o644)
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.place, b.place))
}

// totals returns the sum of counts by rule.
func (e exceptions) totals() map[string]int {
	sums := map[string]int{}
	for k, count := range e {
		sums[k.rule] += count
	}
	return sums
}

// count sums findings up by rule and place.
func count(all []finding) exceptions {
	counts := exceptions{}
	for _, f := range all {
		counts[keyOf(f)]++
	}
	return counts
}

// shown is how many findings of a rule in a place are reported.
const shown = 10

// compare returns what is wrong with the findings beside the exceptions.
func compare(all []finding, allowed exceptions) (wrong []string) {
	found, reported := count(all), exceptions{}
	for _, f := range all {
		k := keyOf(f)
		if reported[k]++; found[k] > allowed[k] && reported[k] <= shown {
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s (%s: %d here, %d allowed)",
				f.file, f.line, f.text, f.rule, found[k], allowed[k]))
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(allowed), compareKeys) {
		if found[k] == 0 {
			wrong = append(wrong, fmt.Sprintf(
				"%s: keeps the rule %q now: drop the exception (go test ./pkg/layout -update)", k.place, k.rule))
		}
	}
	return wrong
}

// lower returns the exceptions that the findings need. A place may take over counts of another, so that packages can
// be split and renamed; but no rule's total may grow.
func lower(all []finding, allowed exceptions) (exceptions, error) {
	found := count(all)
	before, after := allowed.totals(), found.totals()
	for _, rule := range slices.Sorted(maps.Keys(after)) {
		if after[rule] > before[rule] {
			return nil, fmt.Errorf("%s: %d findings, %d allowed: mend the new ones first",
				rule, after[rule], before[rule])
		}
	}
	return found, nil
}

// hold fails the test for findings that testdata/<name> does not allow, or with -update lowers its counts.
func hold(t *testing.T, name string, all []finding) {
	t.Helper()
	list := filepath.Join("testdata", name)
	allowed, err := readExceptions(list)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		lowered, err := lower(all, allowed)
		if err != nil {
			t.Fatal(err)
		}
		if err := lowered.write(list); err != nil {
			t.Fatal(err)
		}
		allowed = lowered
	}
	for _, wrong := range compare(all, allowed) {
		t.Error(wrong)
	}
}

// files returns the module's files with one of the endings, by path below its folder.
// Build outputs, test data, and folders that start with a dot or an underscore are left out, but .github is not.
func files(t *testing.T, endings ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && path != root && skipped(path, name):
			return filepath.SkipDir
		case !d.Type().IsRegular() || !slices.Contains(endings, filepath.Ext(name)):
			return nil
		}
		below, err := filepath.Rel(root, path)
		found = append(found, filepath.ToSlash(below))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no files found")
	}
	return found
}

func skipped(path, name string) bool {
	built := filepath.Dir(path) == root && (name == "bin" || name == "build")
	hidden := strings.HasPrefix(name, ".") && name != ".github"
	return built || hidden || name == "testdata" || strings.HasPrefix(name, "_")
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestExceptionsOnlyShrink(t *testing.T) {
	three := []finding{{"long", "a/x.go", 1, ""}, {"long", "a/x.go", 9, ""}, {"long", "b/x.go", 2, ""}}
	for _, c := range []struct {
		name    string
		allowed exceptions
		wrong   int
		lowered exceptions
	}{
		{"all listed", exceptions{{"long", "a"}: 2, {"long", "b"}: 1}, 0,
			exceptions{{"long", "a"}: 2, {"long", "b"}: 1}},
		{"fewer than listed", exceptions{{"long", "a"}: 5, {"long", "b"}: 1}, 0,
			exceptions{{"long", "a"}: 2, {"long", "b"}: 1}},
		{"one not listed", exceptions{{"long", "a"}: 2}, 1, nil},
		{"more than listed", exceptions{{"long", "a"}: 1, {"long", "b"}: 1}, 2, nil},
		{"one not needed", exceptions{{"long", "a"}: 2, {"long", "b"}: 1, {"deep", "b"}: 1}, 1,
			exceptions{{"long", "a"}: 2, {"long", "b"}: 1}},
		{"a package split in two", exceptions{{"long", "a"}: 3}, 1,
			exceptions{{"long", "a"}: 2, {"long", "b"}: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if wrong := compare(three, c.allowed); len(wrong) != c.wrong {
				t.Errorf("got %q, want %d", wrong, c.wrong)
			}
			lowered, err := lower(three, c.allowed)
			if (err != nil) != (c.lowered == nil) || !maps.Equal(lowered, c.lowered) {
				t.Errorf("lowered to %v, %v; want %v", lowered, err, c.lowered)
			}
		})
	}
}
