package layout_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

var (
	copied    = regexp.MustCompile(`(?m)^COPY (--from=build )?(.+) \S+$`)
	runsMake  = regexp.MustCompile(`\bmake ([a-z-]+)`)
	systemd   = regexp.MustCompile(`(?m)^ExecStart=/usr/lib/vnd/(\S+) .*--params-file /etc/vnd/(\S+)`)
	installed = regexp.MustCompile(`(?m)^cp params/(\S+) "\$out/etc/(\S+)"$`)
)

// missing are the paths that are not in the repository.
func missing(paths ...string) (gone []string) {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(p)))
		return err == nil
	})
}

// TestDockerfile holds what the image is built from: paths and targets of make.
func TestDockerfile(t *testing.T) {
	text, makefile := read(t, "Dockerfile"), read(t, "Makefile")
	found := copied.FindAllStringSubmatch(text, -1)
	if len(found) < 4 {
		t.Fatalf("%d lines COPY", len(found))
	}
	for _, m := range found {
		for _, from := range strings.Fields(m[2]) {
			from = strings.TrimPrefix(from, "/src/")
			if gone := missing(from); len(gone) > 0 && path.Clean(from) != "bin" { // bin is built
				t.Errorf("Dockerfile copies %s, which is not there", from)
			}
		}
	}
	for _, m := range runsMake.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			t.Errorf("Dockerfile runs make %s, which the Makefile does not have", m[1])
		}
	}
}

// TestCompose holds that containers start programs that are there, with files that the image has.
func TestCompose(t *testing.T) {
	var file struct {
		Services map[string]struct{ Command []string }
	}
	if err := yaml.Unmarshal([]byte(read(t, "compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Services) == 0 {
		t.Fatal("no services")
	}
	for name, s := range file.Services {
		wanted := []string{"nodes/" + s.Command[0] + "/main.go"}
		if i := slices.Index(s.Command, "--params-file"); i > 0 {
			wanted = append(wanted, s.Command[i+1])
		}
		if gone := missing(wanted...); len(gone) > 0 {
			t.Errorf("service %s needs %q, which is not there", name, gone)
		}
	}
}

// TestUnits holds that units of systemd start programs that are there, with files that the package installs.
func TestUnits(t *testing.T) {
	etc := map[string]bool{}
	for _, m := range installed.FindAllStringSubmatch(read(t, "packaging/package.sh"), -1) {
		etc[m[2]] = len(missing("params/"+m[1])) == 0
	}
	units, err := filepath.Glob(filepath.Join(root, "packaging", "debian", "*.service"))
	if err != nil || len(units) == 0 {
		t.Fatal(units, err)
	}
	rules := read(t, "packaging/debian/rules")
	for _, unit := range units {
		m := systemd.FindStringSubmatch(read(t, path.Join("packaging/debian", filepath.Base(unit))))
		if m == nil || len(missing("nodes/"+m[1]+"/main.go")) > 0 || !etc[m[2]] {
			t.Errorf("%s: program or parameter file is not installed: %q", unit, m)
		}
		_, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(unit), ".service"), ".vnd-")
		if !regexp.MustCompile(`for unit in .*\b` + name + `\b`).MatchString(rules) {
			t.Errorf("debian/rules does not install %s", unit)
		}
	}
}
