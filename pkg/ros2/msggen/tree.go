package msggen

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// Tree is a folder of definitions and the Go packages beside them.
//
// Every folder below Root with msg/*.msg, srv/*.srv or action/*.action is the ROS package of the folder's name; its Go
// files go into that folder. When Own is set, the definitions in Root itself are that ROS package. Its
// Go package is path.Base(Import), and has the registry of all packages of the tree.
type Tree struct {
	FS     fs.FS
	Root   string // folder in FS
	Import string // Go import path of Root
	Own    string // ROS package of Root's own msg/, srv/ and action/, or ""
	Base   *Tree  // for packages that the tree lacks, or nil
}

// loaded is a Tree with its definitions.
type loaded struct {
	tree *Tree
	base *loaded
	set  *Set
	dirs map[string]string // ROS package to folder below Root
}

func (t *Tree) load() (*loaded, error) {
	l := &loaded{tree: t, dirs: map[string]string{}}
	var baseSet *Set
	if t.Base != nil {
		base, err := t.Base.load()
		if err != nil {
			return nil, err
		}
		l.base, baseSet = base, base.set
	}
	l.set = NewSet(baseSet)
	entries, err := fs.ReadDir(t.FS, t.Root)
	if err != nil {
		return nil, err
	}
	if t.Own != "" {
		if err := l.loadPackage(".", t.Own); err != nil {
			return nil, err
		}
	}
	for _, e := range entries {
		has := func(kind string) bool { return isDir(t.FS, path.Join(t.Root, e.Name(), kind)) }
		if !slices.ContainsFunc(kinds, has) {
			continue
		}
		if err := l.loadPackage(e.Name(), e.Name()); err != nil {
			return nil, err
		}
	}
	if len(l.dirs) == 0 {
		return nil, fmt.Errorf("%s: no package with msg/*.msg, srv/*.srv or action/*.action", t.Root)
	}
	return l, nil
}

func isDir(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

func (l *loaded) loadPackage(dir, pkg string) error {
	n, err := l.set.LoadPackage(l.tree.FS, path.Join(l.tree.Root, dir), pkg)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%s: no msg/*.msg, srv/*.srv or action/*.action", path.Join(l.tree.Root, dir))
	}
	l.dirs[pkg] = dir
	return nil
}

// importOf is the import path and name of the Go package of a ROS package.
func (l *loaded) importOf(pkg string) (importPath, name string, err error) {
	for ; l != nil; l = l.base {
		if dir, ok := l.dirs[pkg]; ok {
			return path.Join(l.tree.Import, dir), l.goPackage(pkg), nil
		}
	}
	return "", "", fmt.Errorf("package %s is not defined", pkg)
}

// goPackage is the name of the Go package of a ROS package of this tree.
func (l *loaded) goPackage(pkg string) string {
	if pkg == l.tree.Own {
		return path.Base(l.tree.Import)
	}
	return goPackage(pkg)
}

// Set loads the definitions.
func (t *Tree) Set() (*Set, error) {
	l, err := t.load()
	if err != nil {
		return nil, err
	}
	return l.set, nil
}

// Generate returns the tree's Go files: contents by path below Root.
func (t *Tree) Generate() (map[string][]byte, error) {
	l, err := t.load()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	owners := map[string]map[string]string{} // by Go package and identifier: its meaning
	for _, d := range l.set.definitions() {
		pkg, _, _, err := SplitName(d.name)
		if err != nil {
			return nil, err
		}
		if owners[pkg] == nil {
			owners[pkg] = map[string]string{}
		}
		f := &file{loaded: l, pkg: pkg, used: owners[pkg], imports: map[string]string{}}
		content, err := f.generate(d.messages)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		out := path.Join(l.dirs[pkg], fileName(d.name))
		if files[out] != nil {
			return nil, fmt.Errorf("%s: the file %s belongs to another definition too", d.name, out)
		}
		files[out] = content
	}
	if t.Own == "" {
		return files, nil
	}
	files["registry.gen.go"], err = l.registry()
	return files, err
}
