package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sample is a small bundle with every field in use, a scalar, awkward names and extreme numbers.
func sample() *Bundle {
	return &Bundle{
		Parent: "0123456789ab", Robot: "quad", Task: "hover", CreatedBy: "vnd test",
		Dt: 0.02, Dimensions: map[string]int{"latent": 12, "history": 20},
		Normalisers: []string{"norm/mean"},
		Config:      json.RawMessage(`{"b": 1, "a": [1.5, "<&>", "\"header_sha256\":\""]}`),
		DataDigest:  "5f4dcc", Metrics: json.RawMessage(`{"v": 0.1}`),
		Tensors: []Tensor{
			{Name: "z/last", Shape: []int{2, 3},
				Data: []float32{1, -2, 0, float32(math.Copysign(0, -1)), math.MaxFloat32, 1e-45}},
			{Name: "norm/mean", Shape: []int{2}, Data: []float32{0.1, 0.2}},
			{Name: "größe \"q\"", Shape: []int{}, Data: []float32{7}},
		},
	}
}

func encoded(t testing.TB, b *Bundle) []byte {
	t.Helper()
	data, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRoundTrip(t *testing.T) {
	b := sample()
	data := encoded(t, b)
	if !bytes.Equal(data, encoded(t, sample())) {
		t.Error("the same bundle made different bytes")
	}
	got, err := Decode("x", data)
	if err != nil {
		t.Fatal(err)
	}
	b.Config = json.RawMessage(`{"b":1,"a":[1.5,"<&>","\"header_sha256\":\""]}`)
	b.Metrics = json.RawMessage(`{"v":0.1}`)
	if d := cmp.Diff(b, got); d != "" {
		t.Errorf("want -, got +\n%s", d)
	}
	if !bytes.Equal(data, encoded(t, got)) {
		t.Error("decoding and encoding changed the bytes")
	}
}

// TestRoundTripAny holds for every bundle that Encode takes.
func TestRoundTripAny(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := anyBundle(rt)
		data, err := b.Encode()
		if err != nil {
			rt.Fatal(err)
		}
		got, err := Decode("x", data)
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(b, got); d != "" {
			rt.Errorf("want -, got +\n%s", d)
		}
	})
}

func anyBundle(rt *rapid.T) *Bundle {
	b := &Bundle{
		Robot: rapid.String().Draw(rt, "robot"), Task: rapid.String().Draw(rt, "task"),
		Dt:         rapid.Float64Range(1e-4, 1).Draw(rt, "dt"),
		Dimensions: rapid.MapOf(rapid.String(), rapid.IntRange(1, 1<<40)).Draw(rt, "dimensions"),
		DataDigest: rapid.StringMatching(`[0-9a-f]{0,64}`).Draw(rt, "digest"), Normalisers: []string{},
	}
	names := rapid.SliceOfNDistinct(rapid.StringN(1, 8, -1), 0, 4, rapid.ID[string]).Draw(rt, "names")
	b.Tensors = []Tensor{}
	for _, name := range names {
		if name == metadataName {
			continue
		}
		shape := rapid.SliceOfN(rapid.IntRange(1, 4), 0, 3).Draw(rt, "shape")
		n, err := elements(shape)
		if err != nil {
			rt.Fatal(err)
		}
		data := rapid.SliceOfN(rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32), n, n).Draw(rt, "data")
		b.Tensors = append(b.Tensors, Tensor{name, append([]int{}, shape...), data})
		if rapid.Bool().Draw(rt, "normaliser") {
			b.Normalisers = append(b.Normalisers, name)
		}
	}
	return b
}

// TestID: what decides how a bundle acts decides its ID; the record around it does not.
func TestID(t *testing.T) {
	id := func(change func(*Bundle)) string {
		b := sample()
		change(b)
		encoded(t, b)
		return b.ID
	}
	base := id(func(*Bundle) {})
	if len(base) != idDigits {
		t.Errorf("ID %q, want %d digits", base, idDigits)
	}
	for name, change := range map[string]func(*Bundle){
		"weight": func(b *Bundle) { b.Tensors[0].Data[0] += 1e-6 },
		"name":   func(b *Bundle) { b.Tensors[0].Name = "y" },
		"shape":  func(b *Bundle) { b.Tensors[0].Shape = []int{3, 2} },
		"config": func(b *Bundle) { b.Config = json.RawMessage(`{}`) },
		"dt":     func(b *Bundle) { b.Dt = 0.01 },
	} {
		if id(change) == base {
			t.Errorf("changed %s, same ID", name)
		}
	}
	for name, change := range map[string]func(*Bundle){
		"parent":       func(b *Bundle) { b.Parent = "" },
		"metrics":      func(b *Bundle) { b.Metrics = nil },
		"config space": func(b *Bundle) { b.Config = append(b.Config, "  "...) },
	} {
		if id(change) != base {
			t.Errorf("changed %s, other ID", name)
		}
	}
}

func TestTensor(t *testing.T) {
	b := sample()
	if data, err := b.Tensor("norm/mean", 2); err != nil || data[1] != 0.2 {
		t.Errorf("got %v, %v", data, err)
	}
	if _, err := b.Tensor("größe \"q\""); err != nil {
		t.Errorf("scalar: %v", err)
	}
	for _, c := range []struct {
		name  string
		shape []int
		want  string
	}{
		{"norm/mean", []int{3}, "has shape [2], want [3]"},
		{"norm/mean", []int{2, 1}, "has shape [2], want [2 1]"},
		{"norm/std", []int{2}, `no tensor "norm/std"`},
	} {
		if _, err := b.Tensor(c.name, c.shape...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: error %v, want %q", c.name, c.shape, err, c.want)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	nan := float32(math.NaN())
	for want, change := range map[string]func(*Bundle){
		`dt is 0 s`:                            func(b *Bundle) { b.Dt = 0 },
		`dt is NaN s`:                          func(b *Bundle) { b.Dt = math.NaN() },
		`dt is 1e+09 s`:                        func(b *Bundle) { b.Dt = 1e9 },
		`robot "\xff" is not UTF-8`:            func(b *Bundle) { b.Robot = "\xff" },
		`"latent" is 0`:                        func(b *Bundle) { b.Dimensions["latent"] = 0 },
		`two tensors named "norm/mean"`:        func(b *Bundle) { b.Tensors[0].Name = "norm/mean" },
		`tensor name "" is not allowed`:        func(b *Bundle) { b.Tensors[0].Name = "" },
		`tensor name "__metadata__" is not`:    func(b *Bundle) { b.Tensors[0].Name = metadataName },
		`shape [2 2] needs 4 numbers, has 6`:   func(b *Bundle) { b.Tensors[0].Shape = []int{2, 2} },
		`dimension below 1`:                    func(b *Bundle) { b.Tensors[0].Shape = []int{2, 0} },
		`number 4 is NaN, want a finite one`:   func(b *Bundle) { b.Tensors[0].Data[4] = nan },
		`number 1 is +Inf`:                     func(b *Bundle) { b.Tensors[1].Data[1] = float32(math.Inf(1)) },
		`normaliser "norm/mean" has no tensor`: func(b *Bundle) { b.Tensors = b.Tensors[:1] },
		`config is not JSON`:                   func(b *Bundle) { b.Config = json.RawMessage(`{"a":`) },
		`metrics is not UTF-8`:                 func(b *Bundle) { b.Metrics = json.RawMessage("\"\xff\"") },
		`header of`: func(b *Bundle) {
			b.Config = json.RawMessage(`"` +
				strings.Repeat("x", maxHeader) + `"`)
		},
		`the limit is 16777216`: func(b *Bundle) {
			b.Tensors[0] = Tensor{"big", []int{MaxSize/4 - 1}, make([]float32, MaxSize/4-1)}
		},
	} {
		b := sample()
		change(b)
		if _, err := b.Encode(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestWriteAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.safetensors")
	b := sample()
	if err := Write(path, b); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || got.ID != b.ID {
		t.Fatalf("got %v, %v", got, err)
	}
	before, _ := os.ReadFile(path)
	b.Dt = -1
	if err := Write(path, b); err == nil || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("error %v, want one that names %s", err, path)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("a refused bundle touched the file")
	}
	if _, err := Read(path + ".no"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.Truncate(path, MaxSize+5); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "a bundle has at most") {
		t.Errorf("oversize file: %v", err)
	}
}

// TestMemory: a hostile header may not make the reader allocate more than a multiple of the input.
func TestMemory(t *testing.T) {
	huge := `{"__metadata__":{},"a":{"dtype":"F32","shape":[2147483647,2147483647,4],"data_offsets":[0,4611686018427387904]}}`
	for _, data := range [][]byte{
		frame(huge, nil),
		{0, 0, 15, 0, 0, 0, 0, 0, '{'},
		frame(strings.Repeat("[", 1<<18), nil),
		frame(`{"a":`+strings.Repeat("[", 1<<18), nil),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode("x", data)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Error("accepted")
		}
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(64<<10+32*len(data)); got > limit {
			t.Errorf("%d bytes of input: allocated %d, limit %d (%v)", len(data), got, limit, err)
		}
	}
}
