// Package arrows holds the layout of the house: which room may import which.
// It has tests only.
//
// Imports are read from the sources and not from `go list`, so that files behind
// build tags count and the test cache sees every change.
package arrows

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

// A way is what a room is part of.
type way string

const (
	ground   way = "ground"
	blocks   way = "blocks"
	flight   way = "flight way"
	learning way = "learning way"
	edges    way = "edges"
	command  way = "command line"
	house    way = "house" // tests of the layout itself
)

// rooms places every package of pkg/, by the first part of its path. A new room
// gets a line here, in the way whose arrows it is to keep.
var rooms = map[string]way{
	"so3": ground, "quad": ground, "kernel": ground, "param": ground, "durable": ground, "ranks": ground,

	"nn": blocks, "model": blocks, "dynamics": blocks, "snapshot": blocks, "learned": blocks,

	"estimate": flight, "latent": flight,
	"reference": flight, "policy": flight, "guard": flight, "control": flight, "doctor": flight, "conditions": flight,

	"transition": learning, "vnd": learning, "task": learning, "train": learning, "gate": learning,
	"learn": learning, "sim": learning, "arena": learning, "baseline": learning, "openloop": learning,
	"collect": learning, "shelf": learning, "background": learning, "campaign": learning,

	"cdr": edges, "msggen": edges, "dds": edges, "rmw": edges, "ros": edges, "bag": edges,
	"ament": edges, "bridge": edges, "assemble": edges, "view": edges, "component": edges, "recording": edges,

	"tool": command, "demo": command,

	"arrows": house, "layout": house,
}

// may says which ways a way may import, directly or through others.
var may = map[way]struct {
	imports []way
	reason  string
}{
	ground:   {[]way{ground}, "ground is what everything stands on"},
	blocks:   {[]way{ground, blocks}, "blocks serve both ways and know neither"},
	flight:   {[]way{ground, blocks, flight}, "what flies never waits for learning; only a snapshot comes back"},
	learning: {[]way{ground, blocks, flight, learning}, "learning takes flights and gives bundles; messages, recordings, plots and commands are around it"},
	edges:    {[]way{ground, blocks, flight, edges}, "messages, bags and plots carry flights and know no learner"},
	command:  {[]way{ground, blocks, flight, learning, edges, command}, ""},
	house:    {nil, "the layout's own tests stand outside it"},
}

// fences guard single rooms: direct lists who may import the room itself, through
// who may besides reach it by way of those.
var fences = []struct {
	room            string
	direct, through []string
	reason          string
}{
	{"msgs", []string{"rmw", "ros", "bag", "bridge", "assemble", "view", "component", "demo", "nodes"}, []string{"tool"},
		"only edges know messages, so that replay and simulation run the code that flies"},
	{"ros", []string{"component", "demo", "nodes"}, []string{"tool"},
		"only nodes, and the demo that listens to them, know the middleware, so that replay and simulation run the code that flies"},
	{"sim", []string{"arena", "campaign", "tool", "demo"}, []string{"nodes"},
		"the learner cannot peek at the world that it is to learn"},
	{"arena", []string{"campaign", "tool", "demo", "nodes"}, nil,
		"the learner cannot peek at the world; nodes and the tool hand it its Judge"},
}

// cgoRooms are the only ones with C in them: the rest builds everywhere.
var cgoRooms = []string{"kernel", "dds"}

// TestArrows holds the rules over this module.
func TestArrows(t *testing.T) {
	for _, broken := range violations(load(t)) {
		t.Error(broken)
	}
}

// TestRules breaks each rule in a made-up module.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		imports string // "importer: imported …", one package a line
		want    []string
	}{
		{"pkg/guard: pkg/quad\npkg/quad: pkg/so3\npkg/so3:\npkg/bag/mcap: pkg/cdr\npkg/cdr:", nil},
		{"pkg/guard: pkg/nn\npkg/nn: pkg/train\npkg/train:", []string{
			"pkg/guard (flight way) imports train (learning way): what flies never waits for learning; " +
				"only a snapshot comes back\n\tthrough pkg/guard → pkg/nn → pkg/train",
			"pkg/nn (blocks) imports train (learning way): blocks serve both ways and know neither\n\tthrough pkg/nn → pkg/train",
		}},
		{"pkg/so3: pkg/nn\npkg/nn:", []string{
			"pkg/so3 (ground) imports nn (blocks): ground is what everything stands on\n\tthrough pkg/so3 → pkg/nn"}},
		{"pkg/vnd: pkg/transition\npkg/transition: pkg/quad\npkg/quad:", nil},
		{"pkg/vnd: pkg/assemble\npkg/assemble: msgs/std_msgs\nmsgs/std_msgs:", []string{
			"pkg/vnd (learning way) imports assemble (edges): " + may[learning].reason + "\n\tthrough pkg/vnd → pkg/assemble",
			"pkg/vnd reaches msgs through pkg/vnd → pkg/assemble → msgs/std_msgs: " + fences[0].reason}},
		{"pkg/view: pkg/ros\npkg/ros: msgs\nmsgs:", []string{
			"pkg/view imports ros; only component, demo, nodes may: " + fences[1].reason}},
		{"nodes/quad_sim: pkg/arena pkg/sim\npkg/arena: pkg/sim\npkg/sim:", []string{
			"nodes/quad_sim imports sim; only arena, campaign, tool, demo may: " + fences[2].reason}},
		{"pkg/learn: pkg/arena\npkg/arena: pkg/sim\npkg/sim:", []string{
			"pkg/learn reaches sim through pkg/learn → pkg/arena → pkg/sim: " + fences[2].reason,
			"pkg/learn imports arena; only campaign, tool, demo, nodes may: " + fences[3].reason}},
		{"nodes/vnd: pkg/tool\npkg/tool: pkg/vnd pkg/assemble\npkg/vnd:\npkg/assemble: msgs\nmsgs:", nil},
		{"pkg/learn: pkg/tool\npkg/tool: pkg/vnd\npkg/vnd:", []string{
			"pkg/learn (learning way) imports tool (command line): " + may[learning].reason + "\n\tthrough pkg/learn → pkg/tool"}},
		{"pkg/nn: C\npkg/kernel: C", []string{
			`pkg/nn: import "C" only in kernel and dds: the rest builds and passes without a C compiler`}},
		{"pkg/zebra:\ncmd:", []string{
			"cmd: Go code lives in pkg/, nodes/ and msgs/",
			"pkg/zebra: not in the rooms table of pkg/arrows: decide which way it is part of"}},
		{"pkg/bag/util:", []string{
			`pkg/bag/util: a line of code finds its room by its nouns, and "util" has none`}},
		{"nodes/fly/inner:", []string{
			"nodes/fly/inner is package inner: nodes/<name> is a main package; a node's own logic lives in pkg/"}},
	} {
		got := violations(madeUp(c.imports))
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s\n got %q\nwant %q", c.imports, got, c.want)
		}
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
		t[importer] = &pkgInfo{importer, roomOf(importer), name, strings.Fields(imported)}
	}
	return t
}

// violations returns every broken rule with its reason.
func violations(t tree) []string {
	var broken []string
	for _, dir := range slices.Sorted(maps.Keys(t)) {
		p := t[dir]
		broken = slices.Concat(broken, placeOf(p), waysOf(t, p), fencesOf(t, p), nameOf(p))
		if slices.Contains(p.imports, "C") && !slices.Contains(cgoRooms, p.room) {
			broken = append(broken, fmt.Sprintf("%s: import \"C\" only in %s: the rest builds and passes without a C compiler",
				p.path, strings.Join(cgoRooms, " and ")))
		}
	}
	return broken
}

func placeOf(p *pkgInfo) []string {
	switch top, _, _ := strings.Cut(p.path, "/"); {
	case top != "pkg" && top != "nodes" && top != "msgs":
		return []string{p.path + ": Go code lives in pkg/, nodes/ and msgs/"}
	case top == "pkg" && rooms[p.room] == "":
		return []string{p.path + ": not in the rooms table of pkg/arrows: decide which way it is part of"}
	}
	return nil
}

func waysOf(t tree, p *pkgInfo) (broken []string) {
	from := rooms[p.room]
	for target, chain := range t.reach(p) {
		to := rooms[target]
		if from != "" && to != "" && p.room != target && !slices.Contains(may[from].imports, to) {
			broken = append(broken, fmt.Sprintf("%s (%s) imports %s (%s): %s\n\tthrough %s",
				p.path, from, target, to, may[from].reason, chain))
		}
	}
	return broken
}

func fencesOf(t tree, p *pkgInfo) (broken []string) {
	reach := t.reach(p)
	for _, f := range fences {
		chain, reaches := reach[f.room]
		directly := slices.ContainsFunc(p.imports, func(i string) bool { return roomOf(i) == f.room })
		switch {
		case !reaches || p.room == f.room || slices.Contains(f.direct, p.room):
		case directly:
			broken = append(broken, fmt.Sprintf("%s imports %s; only %s may: %s",
				p.path, f.room, strings.Join(f.direct, ", "), f.reason))
		case !slices.Contains(f.through, p.room):
			broken = append(broken, fmt.Sprintf("%s reaches %s through %s: %s", p.path, f.room, chain, f.reason))
		}
	}
	return broken
}

func nameOf(p *pkgInfo) []string {
	vague := []string{"util", "utils", "common", "type", "types", "helper", "helpers", "misc"}
	switch {
	case slices.Contains(vague, path.Base(p.path)) || slices.Contains(vague, p.name):
		return []string{fmt.Sprintf("%s: a line of code finds its room by its nouns, and %q has none", p.path, p.name)}
	case p.room == "nodes" && (p.name != "main" || strings.Count(p.path, "/") != 1):
		return []string{fmt.Sprintf("%s is package %s: nodes/<name> is a main package; a node's own logic lives in pkg/",
			p.path, p.name)}
	}
	return nil
}

// pkgInfo is one package of the module, without its tests.
type pkgInfo struct {
	path    string // below the module: "pkg/bag/mcap"
	room    string // "bag"
	name    string
	imports []string // packages of the module by path, and "C"
}

// tree is every package by path.
type tree map[string]*pkgInfo

// reach returns the rooms that p imports, directly or not, each with the way there.
func (t tree) reach(p *pkgInfo) map[string]string {
	found := map[string]string{}
	seen := map[string]bool{}
	var walk func(p *pkgInfo, chain string)
	walk = func(p *pkgInfo, chain string) {
		for _, i := range p.imports {
			if t[i] == nil || seen[i] {
				continue
			}
			seen[i] = true
			here := chain + " → " + i
			if _, ok := found[t[i].room]; !ok {
				found[t[i].room] = here
			}
			walk(t[i], here)
		}
	}
	walk(p, p.path)
	return found
}

// roomOf returns "bag" for pkg/bag/mcap, "nodes" for nodes/vnd, "msgs" for msgs/….
func roomOf(path string) string {
	parts := strings.Split(path, "/")
	if parts[0] == "pkg" && len(parts) > 1 {
		return parts[1]
	}
	return parts[0]
}

const module = "vnd/"

// load parses the imports of every Go file of the module.
func load(t *testing.T) tree {
	t.Helper()
	root := filepath.Join("..", "..")
	found := tree{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && file != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || nested(file)):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
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

// nested says that a folder is a module of its own.
func nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// add takes one file into its package; of a test file only the package's existence counts.
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
		p = &pkgInfo{path: dir, room: roomOf(dir), name: strings.TrimSuffix(src.Name.Name, "_test")}
		t[dir] = p
	}
	if strings.HasSuffix(file, "_test.go") {
		return nil
	}
	for _, i := range src.Imports {
		imported := strings.Trim(i.Path.Value, `"`)
		if imported == "C" {
			p.imports = append(p.imports, imported)
		} else if inside, ok := strings.CutPrefix(imported, module); ok {
			p.imports = append(p.imports, inside)
		}
	}
	return nil
}
