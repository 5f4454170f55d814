package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"
)

// frame puts a length before a header and the body after it.
func frame(head string, body []byte) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(out, head...), body...)
}

var (
	sumPattern       = regexp.MustCompile(`"sha256":"[0-9a-f]{64}"`)
	headerSumPattern = regexp.MustCompile(`"header_sha256":"[0-9a-f]{64}"`)
)

// reseal gives a tampered file valid checksums, so that the checks behind them are reached.
func reseal(head string, body []byte) []byte {
	sum := sha256.Sum256(body)
	head = sumPattern.ReplaceAllLiteralString(head, `"sha256":"`+hex.EncodeToString(sum[:])+`"`)
	head = headerSumPattern.ReplaceAllLiteralString(head, headerSum+blankSum+`"`)
	sum = sha256.Sum256([]byte(head))
	head = strings.Replace(head, headerSum+blankSum, headerSum+hex.EncodeToString(sum[:]), 1)
	return frame(head, body)
}

// two is a bundle of two tensors, of 8 and 4 bytes, whose header is easy to tamper with.
func two(t testing.TB) (head string, body []byte) {
	t.Helper()
	data := encoded(t, &Bundle{Robot: "quad", Dt: 0.02, Tensors: []Tensor{
		{"a", []int{2}, []float32{1, 2}}, {"b", []int{1}, []float32{3}},
	}})
	n := binary.LittleEndian.Uint64(data)
	return string(data[8 : 8+n]), data[8+n:]
}

func TestReseal(t *testing.T) {
	head, body := two(t)
	if _, err := Decode("x", reseal(head, body)); err != nil {
		t.Fatalf("resealing an untouched file: %v", err)
	}
}

// TestFlippedBit flips every bit of a file, one at a time.
func TestFlippedBit(t *testing.T) {
	head, body := two(t)
	data := reseal(head, body)
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			if _, err := Decode("x", data); err == nil {
				t.Errorf("accepted with bit %d of byte %d (%q) flipped", bit, i, data[i])
			}
			data[i] ^= 1 << bit
		}
	}
}

// TestTruncated cuts and lengthens a file everywhere.
func TestTruncated(t *testing.T) {
	head, body := two(t)
	data := reseal(head, body)
	for n := range data {
		if _, err := Decode("x", data[:n]); err == nil || !strings.HasPrefix(err.Error(), "x: ") {
			t.Errorf("%d of %d bytes: error %v", n, len(data), err)
		}
	}
	if _, err := Decode("x", append(data, 0)); err == nil {
		t.Error("accepted with a byte more")
	}
}

// TestDecodeRefuses tampers with a file whose checksums fit, and wants the one line that says why.
func TestDecodeRefuses(t *testing.T) {
	aEntry := `"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	bEntry := `"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}`
	for _, c := range []struct{ old, new, want string }{
		{`"format_version":"1"`, `"format_version":"2"`, "format version 2, this program reads version 1"},
		{`"format_version":"1"`, `"format_version":"one"`, `format version "one" is not a version`},
		{`"format":"vnd.bundle"`, `"format":"pt"`, `not a vnd bundle: format is "pt"`},
		{`"__metadata__"`, `"__metadata"`, `tensor "__metadata"`},
		{`"robot":"quad",`, ``, `metadata has no "robot"`},
		{`"robot":"quad"`, `"robot":"quad","wings":"2"`, `metadata key "wings" is not known`},
		{`"robot":"quad"`, `"robot":7`, `metadata "robot": 7 is not a string`},
		{`"robot":"quad"`, `"robot":null`, `metadata "robot": null is not a string`},
		{`"robot":"quad"`, `"robot":"quad","robot":"arm"`, `two entries named "robot"`},
		{`"dt":"0.02"`, `"dt":"fast"`, `metadata dt "fast" is not a number`},
		{`"dt":"0.02"`, `"dt":"-1"`, `dt is -1 s, want 0.0001 to 1 s`},
		{`"dt":"0.02"`, `"dt":"0.01"`, `does not fit the content`},
		{`"dimensions":"{}"`, `"dimensions":"[]"`, `metadata dimensions`},
		{`"dimensions":"{}"`, `"dimensions":"{\"z\":-1}"`, `dimension "z" is -1`},
		{`"normalisers":"[]"`, `"normalisers":"[\"m\"]"`, `normaliser "m" has no tensor`},
		{`"config":""`, `"config":"{"`, `metadata config is not JSON`},
		{aEntry, aEntry + "," + aEntry, `header has two entries named "a"`},
		{aEntry, `"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}`,
			`entry has two entries named "dtype"`},
		{aEntry, strings.Replace(aEntry, "F32", "BF16", 1), `tensor "a": dtype "BF16" is not known`},
		{aEntry, strings.Replace(aEntry, "dtype", "Dtype", 1), `key "Dtype" is not known`},
		{aEntry, strings.Replace(aEntry, "[2]", "[3]", 1), `bytes 0 to 8, want 12 for shape [3]`},
		{aEntry, strings.Replace(aEntry, "[2]", "[-2]", 1), `dimension below 1`},
		{aEntry, strings.Replace(aEntry, "[2]", "[2.5]", 1), `is not a list of whole numbers`},
		{aEntry, strings.Replace(aEntry, "[2]", "null", 1), `null is not a list`},
		{aEntry, strings.Replace(aEntry, "[2]", "[4294967296,4294967296,2]", 1), `more than a bundle of`},
		{aEntry, strings.Replace(aEntry, `"shape":[2],`, ``, 1), `want dtype, shape and two data_offsets`},
		{aEntry, strings.Replace(aEntry, "[0,8]", "[0,8,9]", 1), `want dtype, shape and two data_offsets`},
		{aEntry, strings.Replace(aEntry, "[0,8]", "[8,0]", 1), `overlap or leave a hole`},
		{aEntry, strings.Replace(aEntry, "[0,8]", "[-8,0]", 1), `begins at byte -8, want 0`},
		{bEntry, strings.Replace(bEntry, "[8,12]", "[4,8]", 1),
			`tensor "b": begins at byte 4, want 8: tensors overlap`},
		{bEntry, strings.Replace(bEntry, "[8,12]", "[12,16]", 1), `tensor "b": begins at byte 12, want 8`},
		{bEntry, strings.Replace(strings.Replace(bEntry, "[8,12]", "[8,16]", 1), "[1]", "[2]", 1),
			`truncated: tensor "b" ends at byte 16 of 12`},
		{"," + bEntry, "", `4 bytes after the last tensor`},
		{bEntry, bEntry + `,"c":{"dtype":"F32","shape":[0],"data_offsets":[12,12]}`, `dimension below 1`},
		{bEntry, `"":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}`, `tensor name "" is not allowed`},
		{bEntry, `"c":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}`, `does not fit the content`},
		{bEntry, bEntry + `,"c":"header_sha256"`, `tensor "c": entry is not a JSON object`},
		{bEntry, bEntry + "}{", `header is not one JSON object`},
	} {
		head, body := two(t)
		if !strings.Contains(head, c.old) {
			t.Fatalf("header %s has no %s", head, c.old)
		}
		_, err := Decode("file", reseal(strings.Replace(head, c.old, c.new, 1), body))
		wantLine(t, c.new, err, c.want)
	}
}

// TestDecodeRefusesBytes has the cases that are not in the header's words.
func TestDecodeRefusesBytes(t *testing.T) {
	head, body := two(t)
	nan := bytes.Clone(body)
	binary.LittleEndian.PutUint32(nan[4:], math.Float32bits(float32(math.Inf(-1))))
	for want, data := range map[string][]byte{
		"truncated: 0 bytes, want 8":                       nil,
		"header of 2097152 bytes, the limit is 1048576":    {0, 0, 0x20, 0, 0, 0, 0, 0, '{'},
		"truncated: header of 16 bytes, 1 follow":          {16, 0, 0, 0, 0, 0, 0, 0, '{'},
		"header is not a JSON object":                      frame("[]", nil),
		"header is not JSON after \"a\"":                   frame(`{"a":x}`, nil),
		"header is not one JSON object":                    frame(`{} x`, nil),
		"not a vnd bundle: the header has no __metadata__": frame(`{"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}`, []byte{0, 0}),
		"not a vnd bundle: format is \"\"":                 frame(`{"__metadata__":{}}`, nil),
		`tensor "a": number 1 is -Inf, want a finite one`:  reseal(head, nan),
		"SHA-256 of the tensors does not match: the file":  frame(head, nan),
		"SHA-256 of the header does not match: the file":   frame(strings.Replace(head, "quad", "quae", 1), body),
		"the header has no header_sha256 where one belongs": frame(strings.Replace(head, headerSum,
			`"header_sha256": "`, 1), body),
		"has at most 16777216":                               make([]byte, MaxSize+1),
		`tensor "a": entry is not a JSON object`:             frame(`{"a":3}`, nil),
		`__metadata__ is not a JSON object`:                  frame(`{"__metadata__":3}`, nil),
		`header has two entries named "__metadata__"`:        frame(`{"__metadata__":{},"__metadata__":{}}`, nil),
		`format version "0" is not a version`:                frame(`{"__metadata__":{"format":"vnd.bundle","format_version":"0"}}`, nil),
		`entry {}, want dtype, shape and two data_offsets`:   frame(`{"a":{}}`, nil),
		"header is not JSON at byte":                         frame(`{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},}`, nil),
		`SHA-256 of the header does not match: the file is `: paddedAfterwards(head, body),
	} {
		_, err := Decode("file", data)
		wantLine(t, want, err, want)
	}
}

// paddedAfterwards has a valid header followed by a space that the checksum did not see.
func paddedAfterwards(head string, body []byte) []byte {
	data := reseal(head, body)
	n := binary.LittleEndian.Uint64(data)
	return frame(string(data[8:8+n])+" ", body)
}

func wantLine(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: accepted, want %q", what, want)
		return
	}
	if s := err.Error(); !strings.HasPrefix(s, "file: ") || !strings.Contains(s, want) || strings.Contains(s, "\n") {
		t.Errorf("%s: error %q, want one line with %q", what, s, want)
	}
}

// FuzzDecode: no input may panic, and what is accepted is a file that Encode makes.
func FuzzDecode(f *testing.F) {
	head, body := two(f)
	f.Add(reseal(head, body))
	f.Add(encoded(f, sample()))
	f.Add(frame(`{"__metadata__":{}}`, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkDecoded(t, data)
	})
}

// FuzzResealed goes behind the checksums: the header's words and the body are free.
func FuzzResealed(f *testing.F) {
	head, body := two(f)
	f.Add(head, body)
	f.Add(strings.Replace(head, "[0,8]", "[8,0]", 1), body)
	f.Add(strings.Replace(head, `"format_version":"1"`, `"format_version":"2"`, 1), body)
	f.Fuzz(func(t *testing.T, head string, body []byte) {
		checkDecoded(t, reseal(head, body))
	})
}

func checkDecoded(t *testing.T, data []byte) {
	b, err := Decode("x", data)
	if err != nil {
		if b != nil {
			t.Fatal("an error and a bundle")
		}
		return
	}
	numbers := 0
	for _, tensor := range b.Tensors {
		numbers += len(tensor.Data)
	}
	if 4*numbers > len(data) {
		t.Fatalf("%d numbers from %d bytes", numbers, len(data))
	}
	again, err := b.Encode()
	if err != nil {
		t.Fatalf("accepted what Encode refuses: %v", err)
	}
	back, err := Decode("x", again)
	if err != nil || !json.Valid(orNull(back.Config)) {
		t.Fatalf("encoding again: %v", err)
	}
}

func orNull(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}
