package layout

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers are the folders below pkg, lowest first. Each may import, directly or through others, those named and itself.
var layers = []struct {
	name, imports, reason string
}{
	{"core", "", "core is what everything stands on"},
	{"nn", "core", "networks are numbers: they know nothing of robots"},
	{"robot", "core nn", "dynamics know nothing of what is learned about them"},
	{"vnd", "core nn robot", "the model is used in flight and in learning and knows neither"},
	{"flight", "core nn robot vnd", "what flies never waits for learning; only a bundle comes back"},
	{"learning", "core nn robot vnd flight", "learning takes flights and gives bundles; messages, bags and plots are around it"},
	{"sim", "core nn robot vnd flight learning", "the simulator and its studies know no messages"},
	{"ros2", "core msgs", "the ROS 2 client library serves any node, not only ours"},
	{"bridge", "core nn robot vnd flight ros2 msgs", "messages carry flights and know no learner"},
	{"viz", "core nn robot vnd flight ros2 msgs bridge", "pictures show flights and know no learner"},
	{"node", "core nn robot vnd flight learning sim ros2 msgs bridge viz",
		"nodes are what the command line and programs start"},
	{"cli", "core nn robot vnd flight learning sim ros2 msgs bridge viz node", "the command line is above all else"},
	{"layout", "", "the tests of the layout stand outside it"},
}

// extraRules name the packages that may import a folder, where its layer's rule says too little.
var extraRules = []struct {
	folder, importers, reason string
}{
	{"pkg/sim", "pkg/sim pkg/node/quadsim pkg/node/armsim pkg/node/pushsim pkg/node/demo pkg/cli " +
		"nodes/background_learner nodes/vnd_nodes",
		"the learner cannot look at the world that it is to learn; its program alone hands the gate a judge"},
	{"msgs", "msgs pkg/ros2 pkg/bridge pkg/viz pkg/node",
		"only these know messages: replay and simulation run the code that flies"},
	{"pkg/ros2", "pkg/ros2 msgs pkg/bridge pkg/viz pkg/node pkg/cli nodes",
		"only these know ROS 2: replay and simulation run the code that flies"},
}

// ofROS2 is what pkg/ros2 takes from this module, its tests included: it builds and tests alone.
var ofROS2 = []string{"pkg/ros2", "msgs", "pkg/core/param", "pkg/core/atomicfile"}

// withC are the only folders with C in them: the rest builds everywhere.
var withC = []string{"pkg/nn/kernel", "pkg/robot", "pkg/ros2/dds", "pkg/sim/mujoco"}

func TestImportsFollowTheLayers(t *testing.T) {
	for _, broken := range violations(load(t)) {
		t.Error(broken)
	}
}

// TestLearningKnowsNoRobot: fit, train, gate and the model take any robot by its System and its Task. What they have
// of a quadrotor stands in packages of its own.
func TestLearningKnowsNoRobot(t *testing.T) {
	all := load(t)
	for _, dir := range []string{"pkg/vnd", "pkg/learning/fit", "pkg/learning/train", "pkg/learning/gate"} {
		if all[dir] == nil {
			t.Fatalf("%s is not there", dir)
		}
		for target, chain := range all.reach(all[dir]) {
			if within(target, []string{"pkg/robot/quadrotor", "pkg/robot/pendulum", "pkg/robot/arm",
				"pkg/robot/pusher", "pkg/flight", "pkg/core/quad"}) {
				t.Errorf("%s imports %s, through %s", dir, target, chain)
			}
		}
	}
}

func TestImportRulesNoticeWhatBreaksThem(t *testing.T) {
	reason := map[string]string{}
	for _, l := range layers {
		reason[l.name] = l.reason
	}
	for name, c := range map[string]struct {
		imports string // "importer: imported …", one package a line
		want    []string
	}{
		"downwards": {"pkg/flight/guard: pkg/core/quad\npkg/core/quad: pkg/core/so3\npkg/core/so3:", nil},
		"upwards through another": {"pkg/flight/guard: pkg/nn/nets\npkg/nn/nets: pkg/learning/train\npkg/learning/train:", []string{
			"pkg/flight/guard imports pkg/learning/train: " + reason["flight"] +
				"\n\tthrough pkg/flight/guard → pkg/nn/nets → pkg/learning/train",
			"pkg/nn/nets imports pkg/learning/train: " + reason["nn"] +
				"\n\tthrough pkg/nn/nets → pkg/learning/train"}},
		"messages in learning": {"pkg/learning/fit: msgs/std_msgs\nmsgs/std_msgs:", []string{
			"pkg/learning/fit imports msgs/std_msgs: " + reason["learning"] +
				"\n\tthrough pkg/learning/fit → msgs/std_msgs",
			"pkg/learning/fit imports msgs/std_msgs; only msgs, pkg/ros2, pkg/bridge, pkg/viz, pkg/node may: " +
				extraRules[1].reason}},
		"simulator in a node that flies": {"pkg/node/controller: pkg/sim\npkg/sim:", []string{
			"pkg/node/controller imports pkg/sim; only pkg/sim, pkg/node/quadsim, pkg/node/armsim, pkg/node/pushsim, " +
				"pkg/node/demo, pkg/cli, nodes/background_learner, nodes/vnd_nodes may: " + extraRules[0].reason}},
		"anything else in ros2": {"pkg/ros2/ros: pkg/core/quad\npkg/core/quad:", []string{
			"pkg/ros2/ros imports pkg/core/quad; pkg/ros2 takes pkg/ros2, msgs, pkg/core/param, pkg/core/atomicfile alone"}},
		"C": {"pkg/nn/layers: C\npkg/nn/kernel: C\npkg/robot/arm: C", []string{
			`pkg/nn/layers: import "C" only in pkg/nn/kernel, pkg/robot, pkg/ros2/dds, pkg/sim/mujoco: ` +
				`the rest builds without a C compiler`}},
		"no layer": {"pkg/zebra:\ncmd:", []string{
			"cmd: Go code lives in pkg, nodes, msgs and examples",
			"pkg/zebra: no layer of pkg/layout has this name"}},
		"vague name": {"pkg/ros2/bag/util:", []string{`pkg/ros2/bag/util: a name says what a package is for, "util" does not`}},
		"logic in a program": {"nodes/fly/inner:", []string{
			"nodes/fly/inner is package inner: nodes/<program> is a main package; its logic lives in pkg/node"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := violations(madeUp(c.imports))
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func madeUp(imports string) tree {
	t := tree{}
	for line := range strings.Lines(imports) {
		importer, imported, _ := strings.Cut(line, ":")
		name := path.Base(importer)
		if path.Dir(importer) == "nodes" {
			name = "main"
		}
		t[importer] = &pkgInfo{path: importer, name: name, imports: strings.Fields(imported)}
	}
	return t
}

// violations returns every broken rule with its reason.
func violations(t tree) (broken []string) {
	for _, dir := range slices.Sorted(maps.Keys(t)) {
		p := t[dir]
		broken = slices.Concat(broken, placeOf(p), layerOf(t, p), fencesOf(p), namesOf(p))
		if slices.Contains(p.imports, "C") && !within(p.path, withC) {
			broken = append(broken, fmt.Sprintf("%s: import \"C\" only in %s: the rest builds without a C compiler",
				p.path, strings.Join(withC, ", ")))
		}
	}
	return broken
}

func placeOf(p *pkgInfo) []string {
	switch top, _, _ := strings.Cut(p.path, "/"); {
	case !slices.Contains([]string{"pkg", "nodes", "msgs", "examples"}, top):
		return []string{p.path + ": Go code lives in pkg, nodes, msgs and examples"}
	case top == "pkg" && !slices.ContainsFunc(layers,
		func(l struct{ name, imports, reason string }) bool { return l.name == folderOf(p.path) }):
		return []string{p.path + ": no layer of pkg/layout has this name"}
	}
	return nil
}

// layerOf returns the imports, direct or not, that lie in no layer that p's may import.
func layerOf(t tree, p *pkgInfo) (broken []string) {
	for _, l := range layers {
		if folderOf(p.path) != l.name || !strings.HasPrefix(p.path, "pkg/") {
			continue
		}
		may := append(strings.Fields(l.imports), l.name)
		seen := map[string]bool{}
		for target, chain := range t.reach(p) {
			if f := folderOf(target); f != "C" && !slices.Contains(may, f) && !seen[f] {
				seen[f] = true
				broken = append(broken, fmt.Sprintf("%s imports %s: %s\n\tthrough %s", p.path, target, l.reason, chain))
			}
		}
	}
	return broken
}

func fencesOf(p *pkgInfo) (broken []string) {
	for _, i := range p.imports {
		for _, f := range extraRules {
			importers := strings.Fields(f.importers)
			if within(i, []string{f.folder}) && !within(p.path, importers) && !within(p.path, []string{"examples"}) {
				broken = append(broken, fmt.Sprintf("%s imports %s; only %s may: %s", p.path, i,
					strings.Join(importers, ", "), f.reason))
			}
		}
	}
	if within(p.path, []string{"pkg/ros2"}) {
		for _, i := range slices.Concat(p.imports, p.tests) {
			if i != "C" && !within(i, ofROS2) {
				broken = append(broken, fmt.Sprintf("%s imports %s; pkg/ros2 takes %s alone", p.path, i,
					strings.Join(ofROS2, ", ")))
			}
		}
	}
	return broken
}

func namesOf(p *pkgInfo) []string {
	vague := []string{"util", "utils", "common", "type", "types", "helper", "helpers", "misc"}
	switch {
	case slices.Contains(vague, path.Base(p.path)) || slices.Contains(vague, p.name):
		return []string{fmt.Sprintf("%s: a name says what a package is for, %q does not", p.path, p.name)}
	case folderOf(p.path) == "nodes" && (p.name != "main" || strings.Count(p.path, "/") != 1):
		return []string{fmt.Sprintf("%s is package %s: nodes/<program> is a main package; its logic lives in pkg/node",
			p.path, p.name)}
	}
	return nil
}

// pkgInfo is one package of the module.
type pkgInfo struct {
	path    string // below the module: "pkg/ros2/bag/mcap"
	name    string
	imports []string // packages of the module by path, and "C"
	tests   []string // what its tests import besides
}

// tree is every package by path.
type tree map[string]*pkgInfo

// reach returns the packages that p imports, directly or not, each with the way there.
func (t tree) reach(p *pkgInfo) map[string]string {
	found := map[string]string{}
	var walk func(p *pkgInfo, chain string)
	walk = func(p *pkgInfo, chain string) {
		for _, i := range p.imports {
			if found[i] != "" || t[i] == nil {
				continue
			}
			found[i] = chain + " → " + i
			walk(t[i], found[i])
		}
	}
	walk(p, p.path)
	return found
}

// folderOf returns "ros2" for pkg/ros2/bag/mcap, "nodes" for nodes/vnd, "msgs" for msgs/….
func folderOf(path string) string {
	parts := strings.Split(path, "/")
	if parts[0] == "pkg" && len(parts) > 1 {
		return parts[1]
	}
	return parts[0]
}

// within reports whether a package is one of the folders or lies below one.
func within(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

const module = "vnd/"

// load parses the imports of every Go file of the module. They are read from the sources, not from `go list`, so that
// files behind build tags count and the test cache sees every change.
func load(t *testing.T) tree {
	t.Helper()
	root := filepath.Join("..", "..")
	found := tree{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && apart(file):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go"):
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		return found.add(file, filepath.ToSlash(dir))
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no packages found")
	}
	return found
}

// apart reports whether a folder is no part of the module: test data, hidden folders, modules of their own.
func apart(dir string) bool {
	name := filepath.Base(dir)
	if name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// add takes one file into its package.
func (t tree) add(file, dir string) error {
	src, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	for _, c := range src.Comments {
		if c.List[0].Text == "//go:build ignore" { // a generator's own program, in no build
			return nil
		}
	}
	p := t[dir]
	if p == nil {
		p = &pkgInfo{path: dir, name: strings.TrimSuffix(src.Name.Name, "_test")}
		t[dir] = p
	}
	imports := &p.imports
	if strings.HasSuffix(file, "_test.go") {
		imports = &p.tests
	}
	for _, i := range src.Imports {
		imported := strings.Trim(i.Path.Value, `"`)
		if inside, ok := strings.CutPrefix(imported, module); ok {
			*imports = append(*imports, inside)
		} else if imported == "C" {
			*imports = append(*imports, imported)
		}
	}
	return nil
}
