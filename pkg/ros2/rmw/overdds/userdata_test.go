package overdds

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPairIDGolden: every clientid and serviceid of Humble in a recorded run consists of its
// participant's prefix and a counter from 1. Ours do too.
func TestPairIDGolden(t *testing.T) {
	ids := 0
	for _, r := range recording(t) {
		data := string(r.change.UserData)
		key, _, found := strings.Cut(data, "=")
		if !found || key == enclaveKey {
			continue
		}
		ids++
		ours := false
		for counter := range uint32(20) {
			ours = ours || key+"="+pairID(r.change.Participant, counter+1)+";" == data
		}
		if !ours {
			t.Errorf("%q of %v, ours are such as %q", data, r.change.Participant, pairID(r.change.Participant, 1))
		}
	}
	if ids < 46 {
		t.Fatalf("only %d ids in the recording", ids)
	}
	// Only the first byte is padded with a space.
	if got := pairID([16]byte{1, 0x10, 0xba, 0xc0, 0x84, 0xcd, 0x3e, 0x96, 0xd, 0xf6, 0xbe, 0xa}, 0x01020304); got !=
		" 1.10.ba.c0.84.cd.3e.96.d.f6.be.a.1.2.3.4" {
		t.Errorf("%q", got)
	}
}

// TestParseUserData: the grammar of rmw's parse_key_value, state by state.
func TestParseUserData(t *testing.T) {
	for in, want := range map[string]map[string]string{
		"":                        {},
		"enclave=/;":              {"enclave": "/"},
		"enclave=/my/enclave;":    {"enclave": "/my/enclave"},
		"a=1;b=2;":                {"a": "1", "b": "2"},
		"a=1;b=2":                 {"a": "1", "b": "2"},
		"a=1;\x00\x00":            {"a": "1"},
		"a=1;;b=2;":               {"a": "1;", "b": "2"},
		"a=x=y;":                  {"a": "x=y"},
		"a=1;a=2;":                {"a": "2"},
		"a=1; b=2;":               {"a": "1", "b": "2"},
		"a=1; ":                   {"a": "1"},
		"serviceid= 1.10.ba;t=1;": {"serviceid": " 1.10.ba", "t": "1"},
		"typehash=1;BUFBE:cpu=":   {"typehash": "1"},
		"a=1;BUFBE:cpu=;cuda=0":   {"a": "1"},
		"BUFBE:cpu=":              {},
		"a=;":                     nil,
		"=1;":                     nil,
		"key":                     nil,
		"a=1;b":                   nil,
		"a=1;b=":                  nil,
		"a=1;  b=2":               nil,
		"a=1;=2":                  nil,
		";a=1;":                   nil,
		"\x00a=1;":                nil,
		"a b=1;":                  nil,
		"\x02\x00\xff":            nil,
	} {
		t.Run(in, func(t *testing.T) {
			if d := cmp.Diff(want, parseUserData([]byte(in))); d != "" {
				t.Errorf("%q: %s", in, d)
			}
		})
	}
}

// TestUserDataRoundTrip: written pairs are parsed to the same.
func TestUserDataRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.StringMatching(`[a-z0-9]{1,9}`), rapid.StringMatching(`[ -:<-~]{1,30}`)).Draw(t,
			"pairs")
		var b bytes.Buffer
		for k, v := range want {
			b.WriteString(k + "=" + v + ";")
		}
		if d := cmp.Diff(want, parseUserData(b.Bytes())); d != "" {
			t.Fatal(d)
		}
	})
}

func TestParseHash(t *testing.T) {
	hash := "RIHS01_" + strings.Repeat("0f", 32)
	if got := parseHash(parseUserData([]byte(hashPair(hashKey, hash)))[hashKey]); got != hash {
		t.Errorf("%q", got)
	}
	if hashPair(hashKey, "") != "" {
		t.Error("a pair of no hash")
	}
	for _, bad := range []string{"", "RIHS01_", hash + "0", hash[1:], "RIHS02_" + hash[7:], hash[:70] + "g"} {
		if parseHash(bad) != "" {
			t.Errorf("%q is taken for a hash", bad)
		}
	}
}

func FuzzUserData(f *testing.F) {
	for _, r := range recording(f) {
		f.Add(r.change.UserData)
	}
	f.Add([]byte("a=1;;b=2; c=3\x00"))
	f.Add(bytes.Repeat([]byte("a=;;;"), 100))
	f.Fuzz(func(t *testing.T, data []byte) {
		for k, v := range parseUserData(data) {
			if k == "" || v == "" || !bytes.Contains(data, []byte(k+"=")) {
				t.Errorf("%q=%q", k, v)
			}
		}
	})
}
