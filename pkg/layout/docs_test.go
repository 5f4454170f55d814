package layout

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#+ (.*)`)
	noted   = regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz)[A-Z]\w*`)
	making  = regexp.MustCompile("`make ([a-z][a-z-]*)")
)

// What README, docs and benchmarks refer to is there: files, headings, tests and targets of make.
func TestDocs(t *testing.T) {
	root := filepath.Join("..", "..")
	tests, makefile := testNames(t, root), contents(t, filepath.Join(root, "Makefile"))
	for _, page := range pages(t, root) {
		text := contents(t, page)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if wrong := follow(t, page, m[1]); wrong != "" {
				t.Errorf("%s: link %s: %s", page, m[1], wrong)
			}
		}
		for _, name := range noted.FindAllString(text, -1) {
			if !tests[name] {
				t.Errorf("%s: there is no %s", page, name)
			}
		}
		for _, m := range making.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: make has no target %s", page, m[1])
			}
		}
	}
}

// pages are the Markdown files of the top folder and those anywhere in docs, benchmarks and examples.
func pages(t *testing.T, root string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, folder := range []string{"docs", "benchmarks", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".md" {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// follow says what is wrong with a link on a page, "" for nothing. Those to other sites are not followed.
func follow(t *testing.T, page, to string) string {
	if strings.Contains(to, "://") {
		return ""
	}
	file, anchor, _ := strings.Cut(to, "#")
	target := page
	if file != "" {
		target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
	}
	if _, err := os.Stat(target); err != nil {
		return "no such file"
	}
	if anchor != "" && !anchors(contents(t, target))[anchor] {
		return "no such heading"
	}
	return ""
}

// anchors are the names by which headings of a page are linked to.
func anchors(text string) map[string]bool {
	all, code := map[string]bool{}, false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		m := heading.FindStringSubmatch(line)
		if m == nil || code {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case strings.ContainsRune("`*.,:;()'\"/?!+&", r):
				return -1
			}
			return r
		}, strings.ToLower(strings.TrimSpace(m[1])))
		all[name] = true
	}
	return all
}

// testNames are those of all tests, benchmarks and fuzz targets.
func testNames(t *testing.T, root string) map[string]bool {
	t.Helper()
	declared, all := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`), map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != root && (name == "build" || name == "bin" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range declared.FindAllStringSubmatch(contents(t, path), -1) {
				all[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
