package reference

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	for path, want := range Documents() {
		t.Run(path, func(t *testing.T) {
			got, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(path)))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("%s is out of date: run make gen", path)
			}
		})
	}
}
