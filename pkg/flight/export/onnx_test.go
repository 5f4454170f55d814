package export

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a message as it was read.
type field struct {
	number protowire.Number
	bytes  []byte
	value  uint64
}

// fields reads a message.
func fields(t *testing.T, b []byte) (all []field) {
	t.Helper()
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		f := field{number: number}
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d is of kind %d", number, kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		all = append(all, f)
	}
	return all
}

// texts are the values of a field of strings.
func texts(all []field, number protowire.Number) (s []string) {
	for _, f := range all {
		if f.number == number {
			s = append(s, string(f.bytes))
		}
	}
	return s
}

// Every file has what the standard asks for: operators that it knows, and each input made before it is read.
func TestGraphsAreWhole(t *testing.T) {
	for name, b := range cases(t) {
		n := must(Of(b))(t)
		for _, part := range n.Parts() {
			t.Run(name+"/"+part, func(t *testing.T) {
				data := must(n.ONNX(part))(t)
				if !bytes.Equal(data, must(n.ONNX(part))(t)) {
					t.Error("twice the same graph gave two files")
				}
				wholeGraph(t, graphOf(t, data))
			})
		}
	}
}

// graphOf is the graph of a file, whose versions are those that we say.
func graphOf(t *testing.T, data []byte) (graph []field) {
	t.Helper()
	for _, f := range fields(t, data) {
		switch f.number {
		case modelIR:
			if f.value != irVersion {
				t.Errorf("version %d", f.value)
			}
		case modelGraph:
			graph = fields(t, f.bytes)
		case modelOpset:
			if o := fields(t, f.bytes); len(o) != 1 || o[0].value != opset {
				t.Errorf("operators %v", o)
			}
		}
	}
	return graph
}

// wholeGraph holds a graph to what it has made before it reads it.
func wholeGraph(t *testing.T, graph []field) {
	t.Helper()
	operators := []string{"Add", "Concat", "GRU", "MatMul", "Mul", "Reshape", "Squeeze", "Sub", "Tanh", "Transpose"}
	known := []string{""}
	for _, f := range graph {
		switch f.number {
		case graphConstant:
			known = append(known, wholeTensor(t, f.bytes))
		case graphInput:
			known = append(known, texts(fields(t, f.bytes), infoName)...)
		}
	}
	for _, f := range graph {
		x := f.bytes
		if f.number == graphOutput && !slices.Contains(known, texts(fields(t, x), infoName)[0]) {
			t.Error("the output is not made")
		}
		if f.number != graphNode {
			continue
		}
		if op := texts(fields(t, x), nodeOp); len(op) != 1 || !slices.Contains(operators, op[0]) {
			t.Errorf("operator %q", op)
		}
		for _, in := range texts(fields(t, x), nodeInput) {
			if !slices.Contains(known, in) {
				t.Errorf("%q is read, and nobody has made it", in)
			}
		}
		known = append(known, texts(fields(t, x), nodeOutput)...)
	}
}

// wholeTensor holds a constant's shape against its bytes, and returns its name.
func wholeTensor(t *testing.T, b []byte) string {
	t.Helper()
	size, kind, raw, name := uint64(1), uint64(0), 0, ""
	for _, f := range fields(t, b) {
		switch f.number {
		case tensorDims:
			size *= f.value
		case tensorType:
			kind = f.value
		case tensorName:
			name = string(f.bytes)
		case tensorRaw:
			raw = len(f.bytes)
		}
	}
	each := map[uint64]uint64{kindFloat: 4, kindInt64: 8}[kind]
	if each == 0 || size*each != uint64(raw) || name == "" {
		t.Errorf("constant %q of kind %d: %d numbers in %d bytes", name, kind, size, raw)
	}
	return name
}

// runtime is a Python with onnxruntime; the test is skipped without one.
func runtime(t *testing.T) string {
	t.Helper()
	python := os.Getenv("VND_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import onnxruntime").Run(); err != nil {
		t.Skipf("SKIPPED: %s has no onnxruntime (make test installs it); TestGraphsAreWhole has read the files by "+
			"itself", python)
	}
	return python
}

// onnxruntime gives the numbers of our own code, to 1e-5 of the outputs' range.
func TestONNXRuntime(t *testing.T) {
	python, dir := runtime(t), t.TempDir()
	cmd := exec.Command(python, filepath.Join("testdata", "run.py"))
	cmd.Stderr = os.Stderr
	stdin, stdout := must(cmd.StdinPipe())(t), must(cmd.StdoutPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	jobs, answers := json.NewEncoder(stdin), json.NewDecoder(stdout)
	type array struct {
		Shape []int     `json:"shape"`
		Data  []float32 `json:"data"`
	}
	for name, b := range cases(t) {
		n := must(Of(b))(t)
		for _, part := range n.Parts() {
			x := reference(t, b, part, 200)
			path := filepath.Join(dir, "net.onnx")
			if err := os.WriteFile(path, must(n.ONNX(part))(t), 0o666); err != nil {
				t.Fatal(err)
			}
			inputs := map[string]array{}
			for in, data := range x.inputs {
				inputs[in] = array{x.shapes[in], data}
			}
			var a struct {
				Names    []string             `json:"names"`
				Metadata map[string]string    `json:"metadata"`
				Outputs  map[string][]float32 `json:"outputs"`
			}
			if err := jobs.Encode(map[string]any{"model": path, "inputs": inputs}); err != nil {
				t.Fatal(err)
			}
			if err := answers.Decode(&a); err != nil {
				t.Fatalf("%s, %s: %v", name, part, err)
			}
			e := x.worst(a.Outputs[x.output])
			t.Logf("%s, %s: %.2g of the range", name, part, e)
			if e > 1e-5 {
				t.Errorf("%s, %s: off by %.2g of the range", name, part, e)
			}
			if len(a.Names) != len(x.inputs)+1 || a.Metadata["bundle"] != b.ID || a.Metadata["dt"] != "0.02" {
				t.Errorf("%s, %s: %q, %q", name, part, a.Names, a.Metadata)
			}
		}
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
