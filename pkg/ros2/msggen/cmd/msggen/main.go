// Command msggen generates Go from a tree of ROS 2 interface definitions:
//
//	msggen -import PATH [-own PACKAGE] [-base DIR -base-import PATH [-base-own PACKAGE]] DIR
package main

import (
	"flag"
	"fmt"
	"os"

	"vnd/pkg/ros2/msggen"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "msggen:", err)
		os.Exit(1)
	}
}

func run() error {
	importPath := flag.String("import", "", "Go import path of DIR")
	own := flag.String("own", "", "ROS package of the definitions in DIR itself")
	base := flag.String("base", "", "folder of packages that DIR refers to")
	baseImport := flag.String("base-import", "", "Go import path of the base folder")
	baseOwn := flag.String("base-own", "", "ROS package of the definitions in the base folder itself")
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
	return msggen.Write(dir, files)
}
