package layout_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#+ (.*)`)
	noted   = regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz)[A-Z]\w*`)
	making  = regexp.MustCompile("`make ([a-z][a-z-]*)")
	// ours is a path in this repository, up to where a test's name, a placeholder or a wildcard begins.
	ours = regexp.MustCompile("(?:^|[\\s(`])((?:pkg|nodes|params|launch|examples)/[\\w/-]+(?:\\.[a-z]\\w*)*)([<*…]?)")
	// started is the program in a line that starts a node; set is a parameter that such a line sets.
	started = regexp.MustCompile(`(?m)^(?:bin/)?([a-z]+_[a-z]+|visualizer) .*`)
	set     = regexp.MustCompile(`-p "?([a-z0-9_.]+):=`)
)

// TestDocs holds that what README, docs and benchmarks refer to is there: files, headings, tests, targets of make and
// parameters of nodes.
func TestDocs(t *testing.T) {
	tests, makefile := testNames(t), read(t, "Makefile")
	for _, page := range files(t, ".md") {
		text := read(t, page)
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
		for _, m := range ours.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil && m[2] == "" {
				t.Errorf("%s: there is no %s", page, m[1])
			}
		}
		for _, m := range started.FindAllStringSubmatch(text, -1) {
			known := parameters(t, "params/"+m[1]+".yaml")
			for _, p := range set.FindAllStringSubmatch(m[0], -1) {
				if !known[p[1]] && p[1] != "use_sim_time" {
					t.Errorf("%s: %s has no parameter %s", page, m[1], p[1])
				}
			}
		}
	}
}

// parameters are the dotted names in a node's parameter file.
func parameters(t *testing.T, page string) map[string]bool {
	t.Helper()
	var file map[string]map[string]map[string]any
	if err := yaml.Unmarshal([]byte(read(t, page)), &file); err != nil {
		t.Fatal(page, err)
	}
	all := map[string]bool{}
	var add func(prefix string, values map[string]any)
	add = func(prefix string, values map[string]any) {
		for name, value := range values {
			all[prefix+name] = true
			if inner, ok := value.(map[string]any); ok {
				add(prefix+name+".", inner)
			}
		}
	}
	for _, node := range file {
		add("", node["ros__parameters"])
	}
	return all
}

// follow says what is wrong with a link on a page, "" for nothing. Those to other sites are not followed.
func follow(t *testing.T, page, to string) string {
	if strings.Contains(to, "://") {
		return ""
	}
	file, anchor, _ := strings.Cut(to, "#")
	target := page
	if file != "" {
		target = path.Join(path.Dir(page), file)
	}
	if _, err := os.Stat(filepath.Join(root, target)); err != nil {
		return "no such file"
	}
	if anchor != "" && !anchors(read(t, target))[anchor] {
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
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	declared, all := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`), map[string]bool{}
	for _, file := range files(t, ".go") {
		if strings.HasSuffix(file, "_test.go") {
			for _, m := range declared.FindAllStringSubmatch(read(t, file), -1) {
				all[m[1]] = true
			}
		}
	}
	return all
}
