// Package ament reads a sourced ROS 2 workspace: the prefixes of its packages, its
// distribution and versions, and the compiler flags for programs in C.
package ament

import (
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// variable holds the prefixes; setup.bash sets it.
const variable = "AMENT_PREFIX_PATH"

// Workspace is the sourced workspaces: their prefixes in order of precedence.
type Workspace struct {
	Distro   string // ROS_DISTRO
	Prefixes []string
}

// Find reads AMENT_PREFIX_PATH and ROS_DISTRO.
func Find(getenv func(string) string) (*Workspace, error) {
	w := &Workspace{Distro: getenv("ROS_DISTRO")}
	for _, p := range filepath.SplitList(getenv(variable)) {
		if p != "" {
			w.Prefixes = append(w.Prefixes, p)
		}
	}
	switch {
	case len(w.Prefixes) == 0:
		return nil, errors.New(variable + " is not set: source the setup.bash of ROS 2 or of a workspace")
	case w.Distro == "":
		return nil, errors.New("ROS_DISTRO is not set: source the setup.bash of ROS 2 itself")
	}
	return w, nil
}

// Prefix is the folder that a package is installed in.
func (w *Workspace) Prefix(pkg string) (prefix string, found bool) {
	for _, p := range w.Prefixes {
		if _, err := os.Stat(filepath.Join(p, "share", "ament_index", "resource_index", "packages", pkg)); err == nil {
			return p, true
		}
	}
	return "", false
}

// Missing lists the packages that are not installed.
func (w *Workspace) Missing(packages ...string) []string {
	var missing []string
	for _, p := range packages {
		if _, found := w.Prefix(p); !found {
			missing = append(missing, p)
		}
	}
	return missing
}

// Version of a package, from its package.xml.
func (w *Workspace) Version(pkg string) (string, error) {
	prefix, found := w.Prefix(pkg)
	if !found {
		return "", fmt.Errorf("no package %s in %s", pkg, variable)
	}
	file := filepath.Join(prefix, "share", pkg, "package.xml")
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("version of package %s: %w", pkg, err)
	}
	var manifest struct {
		Version string `xml:"version"`
	}
	if err := xml.Unmarshal(text, &manifest); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if manifest.Version = strings.TrimSpace(manifest.Version); manifest.Version == "" {
		return "", fmt.Errorf("%s: no version, expected <version>1.2.3</version>", file)
	}
	return manifest.Version, nil
}

// Includes are the folders of headers. From Humble on each package has its own.
func (w *Workspace) Includes() ([]string, error) {
	var folders []string
	for _, p := range w.Prefixes {
		entries, err := os.ReadDir(filepath.Join(p, "include"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() {
				folders = append(folders, filepath.Join(p, "include", e.Name()))
			}
		}
	}
	return folders, nil
}

// Libraries are the folders of libraries.
func (w *Workspace) Libraries() []string {
	var folders []string
	for _, p := range w.Prefixes {
		lib := filepath.Join(p, "lib")
		if info, err := os.Stat(lib); err == nil && info.IsDir() && !slices.Contains(folders, lib) {
			folders = append(folders, lib)
		}
	}
	return folders
}
