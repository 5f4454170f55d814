package bundle

import (
	"crypto/ed25519"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keyOf is the key that a seed makes.
func keyOf(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+seed)), ed25519.SeedSize)))
}

func publicOf(seed byte) ed25519.PublicKey { return keyOf(seed).Public().(ed25519.PublicKey) }

func signed(t testing.TB, b *Bundle, seed byte, issued int64) []byte {
	t.Helper()
	data, err := b.EncodeSigned(keyOf(seed), issued)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSignedBundleReadsBackAndKeepsItsID(t *testing.T) {
	plain := sample()
	encoded(t, plain)
	b, err := Decode("x", signed(t, sample(), 0, 17))
	if err != nil {
		t.Fatal(err)
	}
	if want := (&Signature{Key: publicOf(0), Issued: 17}); b.ID != plain.ID || !cmp.Equal(want, b.Signature) {
		t.Errorf("bundle %s with %+v, expected %s with %+v", b.ID, b.Signature, plain.ID, want)
	}
	if string(encoded(t, b)) != string(encoded(t, sample())) {
		t.Error("the signature outlives Encode")
	}
	if _, err := sample().EncodeSigned(nil, 1); err == nil {
		t.Error("signed without a key")
	}
}

// TestTamperedSignedBundleIsRefused: each change is hidden behind checksums that fit it.
func TestTamperedSignedBundleIsRefused(t *testing.T) {
	data := signed(t, &Bundle{Robot: "quad", Dt: 0.02, Metrics: []byte(`{"v":1}`), Tensors: []Tensor{
		{"a", []int{2}, []float32{1, 2}}, {"b", []int{1}, []float32{3}}}}, 0, 17)
	n := binary.LittleEndian.Uint64(data)
	head, body := string(data[8:8+n]), string(data[8+n:])
	if _, err := Decode("x", reseal(head, []byte(body))); err != nil {
		t.Fatalf("resealed without a change: %v", err)
	}
	other := signed(t, &Bundle{Robot: "quad", Dt: 0.02, Tensors: []Tensor{{"a", []int{1}, []float32{1}}}}, 0, 17)
	at := strings.Index(string(other), signaturePlace) + len(signaturePlace)
	foreign := string(other[at : at+len(blankSignature)])
	start := strings.Index(head, signaturePlace) + len(signaturePlace)
	mine := head[start : start+len(blankSignature)]
	for name, c := range map[string]struct{ head, body, want string }{
		"metrics":           {strings.Replace(head, `\"v\":1`, `\"v\":2`, 1), body, "does not fit"},
		"robot":             {strings.Replace(head, `"robot":"quad"`, `"robot":"drop"`, 1), body, "does not fit"},
		"issued later":      {strings.Replace(head, `"issued":"17"`, `"issued":"99"`, 1), body, "does not fit"},
		"another signature": {strings.Replace(head, mine, foreign, 1), body, "does not fit"},
		"another signer": {strings.Replace(head, FormatKey(publicOf(0))[len(keyPrefix):],
			FormatKey(publicOf(1))[len(keyPrefix):], 1), body, "does not fit"},
		"tensors": {head, "\x01" + body[1:], "does not fit"},
		"no hexadecimal digits": {strings.Replace(head, mine, strings.Repeat("g", len(mine)), 1), body,
			"the signature is not one"},
		"half a signature": {strings.Replace(head, `"issued":"17",`, ``, 1), body, "the signature is not one"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.head == head && c.body == body {
				t.Fatal("nothing was changed")
			}
			_, err := Decode("x", reseal(c.head, []byte(c.body)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, expected %q", err, c.want)
			}
		})
	}
}

func TestTrustTakesOnlyTheNewestOfItsKey(t *testing.T) {
	made := func(seed byte, issued int64, dt float64) *Bundle {
		b := sample()
		b.Dt = dt
		data := encoded(t, b)
		if issued > 0 {
			data = signed(t, b, seed, issued)
		}
		out, err := Decode("x", data)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const none = 0
	lab := Trust{Key: publicOf(0)}
	for _, c := range []struct {
		name string
		t    *Trust
		b    *Bundle
		want string // "" takes it
	}{
		{"no key: unsigned", new(Trust), made(0, none, .02), ""},
		{"no key: of anybody", new(Trust), made(1, 1, .02), ""},
		{"unsigned", &lab, made(0, none, .02), "is not signed, expected the signature of bundle_key"},
		{"another key", &lab, made(1, 5, .02), "is signed by ed25519:"},
		{"unsigned, asked for", &Trust{Key: publicOf(0), Unsigned: true}, made(0, none, .02), ""},
		{"another key beside unsigned", &Trust{Key: publicOf(0), Unsigned: true}, made(1, 1, .02),
			"is signed by ed25519:"},
		{"the first", &lab, made(0, 5, .02), ""},
		{"again", &lab, made(0, 5, .02), ""},
		{"another of the same time", &lab, made(0, 5, .01), "was issued before"},
		{"the next", &lab, made(0, 6, .01), ""},
		{"the first, replayed", &lab, made(0, 5, .02), "was issued before"},
		{"the first, issued anew", &lab, made(0, 7, .02), ""},
	} {
		err := c.t.Check(c.b)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %q", c.name, err, c.want)
		}
	}
	if err := lab.CheckFile(made(0, 1, .02)); err != nil {
		t.Errorf("an old file that is named: %v", err)
	}
}

func TestKeyFileIsItsOwnersAndNeverOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lab.key")
	key, err := NewKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if _, err := NewKey(path); err == nil {
		t.Error("overwritten")
	}
	if back, err := ReadKey(path); err != nil || !back.Equal(key) {
		t.Errorf("read back another key, error %v", err)
	}
	public := key.Public().(ed25519.PublicKey)
	if back, err := ParseKey(FormatKey(public)); err != nil || !back.Equal(public) {
		t.Errorf("public key read back as %x, error %v", back, err)
	}
	good := FormatKey(public)
	for _, text := range []string{"", "ed25519:", good[8:], good + "00", good[:70]} {
		if _, err := ParseKey(text); err == nil {
			t.Errorf("%q is taken for a key", text)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others may read: %v", err)
	}
}
