// Command msggen makes Go of a tree of ROS 2 interface definitions:
//
//	msggen -import PATH [-own PACKAGE] [-base DIR -base-import PATH -base-own PACKAGE] DIR
//
// Generated files whose definition is gone are removed.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vnd/pkg/msggen"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "msggen:", err)
		os.Exit(1)
	}
}

func run() error {
	importPath := flag.String("import", "", "Go import path of DIR")
	own := flag.String("own", "", "ROS package of the definitions right in DIR")
	base := flag.String("base", "", "folder of the packages that DIR's refer to")
	baseImport := flag.String("base-import", "", "Go import path of the base folder")
	baseOwn := flag.String("base-own", "", "ROS package of the definitions right in the base folder")
	flag.Parse()
	if flag.NArg() != 1 || *importPath == "" {
		return fmt.Errorf("expected -import PATH and one folder; see -help")
	}
	dir := flag.Arg(0)
	tree := &msggen.Tree{FS: os.DirFS(dir), Root: ".", Import: *importPath, Own: *own}
	if *base != "" {
		tree.Base = &msggen.Tree{FS: os.DirFS(*base), Root: ".", Import: *baseImport, Own: *baseOwn}
	}
	files, err := tree.Generate()
	if err != nil {
		return err
	}
	if err := removeStale(dir, files); err != nil {
		return err
	}
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, content) {
			continue
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeStale removes generated files, in DIR and the folders right below it, that are not in files.
func removeStale(dir string, files map[string][]byte) error {
	fsys := os.DirFS(dir)
	for _, pattern := range []string{"*.gen.go", "*/*.gen.go"} {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			content, err := fs.ReadFile(fsys, name)
			if err != nil {
				return err
			}
			if files[name] != nil || !strings.HasPrefix(string(content), msggen.Marker) {
				continue
			}
			if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	return nil
}
