package msggen

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes generated files, by path below dir, where they have changed. It removes other generated
// files in dir and in the folders directly below it.
func Write(dir string, files map[string][]byte) error {
	for _, pattern := range []string{"*.gen.go", "*/*.gen.go"} {
		names, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := removeStale(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
				return err
			}
		}
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

// removeStale removes a file that msggen no longer generates.
func removeStale(file string, content []byte) error {
	if content != nil {
		return nil
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(old, []byte(Marker)) {
		return nil
	}
	return os.Remove(file)
}
