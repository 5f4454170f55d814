package bundle

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// found is what another reader found in a bundle's file.
type found struct {
	Metadata map[string]string      `json:"metadata"`
	Tensors  map[string]foundTensor `json:"tensors"`
}

type foundTensor struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Hex   string `json:"hex"`
}

// TestLayout reads a file by the letter of the safetensors description, with none of this package's code.
func TestLayout(t *testing.T) {
	b := sample()
	data := encoded(t, b)
	n := binary.LittleEndian.Uint64(data)
	if n%8 != 0 || data[8] != '{' {
		t.Errorf("header of %d bytes beginning with %q, want a multiple of 8 and {", n, data[8])
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+n], &entries); err != nil {
		t.Fatal(err)
	}
	got := found{Tensors: map[string]foundTensor{}}
	for name, raw := range entries {
		if name == "__metadata__" {
			if err := json.Unmarshal(raw, &got.Metadata); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var e struct {
			DType   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets []int  `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		if e.DType != "F32" {
			t.Errorf("%s: dtype %s", name, e.DType)
		}
		bytes := data[8+n:][e.Offsets[0]:e.Offsets[1]]
		got.Tensors[name] = foundTensor{"float32", e.Shape, hex.EncodeToString(bytes)}
	}
	compare(t, b, got)
}

// TestPyPI opens a bundle with the safetensors package that others use, and refuses a file of that
// package's own making in words. VND_PYTHON names a Python that has safetensors and numpy.
func TestPyPI(t *testing.T) {
	python := os.Getenv("VND_PYTHON")
	if python == "" {
		python = "python3"
		if err := exec.Command(python, "-c", "import safetensors, numpy").Run(); err != nil {
			t.Skip("no python3 with safetensors and numpy, and VND_PYTHON is not set; TestLayout has read the file by itself")
		}
	}
	dir := t.TempDir()
	path, foreign := filepath.Join(dir, "bundle.safetensors"), filepath.Join(dir, "foreign.safetensors")
	b := sample()
	if err := Write(path, b); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "open.py"), path, foreign)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	var got found
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %.200s", err, out)
	}
	compare(t, b, got)
	if _, err := Read(foreign); err == nil || !strings.Contains(err.Error(), `not a vnd bundle: format is "np"`) {
		t.Errorf("a foreign file: error %v", err)
	}
}

// compare holds what was found against the bundle that was written.
func compare(t *testing.T, b *Bundle, got found) {
	t.Helper()
	want := map[string]foundTensor{}
	for _, tensor := range b.Tensors {
		raw := make([]byte, 4*len(tensor.Data))
		if _, err := binary.Encode(raw, binary.LittleEndian, tensor.Data); err != nil {
			t.Fatal(err)
		}
		want[tensor.Name] = foundTensor{"float32", tensor.Shape, hex.EncodeToString(raw)}
	}
	if d := cmp.Diff(want, got.Tensors); d != "" {
		t.Errorf("tensors, want -, got +\n%s", d)
	}
	for key, want := range map[string]string{
		"format_version": fmt.Sprint(FormatVersion), "id": b.ID, "parent": b.Parent, "robot": b.Robot, "task": b.Task,
		"dt": "0.02", "dimensions": `{"history":20,"latent":12}`, "normalisers": `["norm/mean"]`,
		"data_digest": b.DataDigest, "metrics": `{"v":0.1}`, "created_by": b.CreatedBy,
	} {
		if got.Metadata[key] != want {
			t.Errorf("metadata %s is %q, want %q", key, got.Metadata[key], want)
		}
	}
}
