package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSaveLoad(t *testing.T) {
	type value struct{ X []float64 }
	path := filepath.Join(t.TempDir(), "v")
	var got value
	if err := Load(path, &got); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	want := value{[]float64{1, 2, 3}}
	if err := Save(path, &want); err != nil {
		t.Fatal(err)
	}
	if err := Load(path, &got); err != nil || !slices.Equal(got.X, want.X) {
		t.Fatalf("%v, %v", got, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if Load(path, &got) == nil {
			t.Fatalf("a flipped bit in byte %d passes", i)
		}
	}
}
