package cyclone

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckConfig(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good.xml", `<?xml version="1.0" encoding="ISO-8859-1"?>
<CycloneDDS><Domain Id="any"/></CycloneDDS>
`)
	unclosed := file("unclosed.xml", "<CycloneDDS>\n  <Domain>\n</CycloneDDS>\n")
	cut := file("cut.xml", "<CycloneDDS>\n  <Domain>\n")
	empty := file("empty.xml", "\n")
	for _, c := range []struct {
		uri  string
		want []string // of the error; none when it is right
	}{
		{"", nil},
		{" , ", nil},
		{"<General/>", nil},
		{"<Discovery><Peers><Peer address=\"a\"></></></>", nil},
		{"<General><AllowMulticast>false", nil}, // as Cyclone DDS has it
		{"<General/>,<Discovery/>," + good, nil},
		{"file://" + good + ",<General></>", nil},
		{good + "," + unclosed, []string{unclosed + ":3:", "Domain"}},
		{cut, []string{cut + ":3:", "unexpected EOF"}},
		{empty, []string{empty, "no XML element"}},
		{"<General></Generale>", []string{"1:21", "<General> closed by </Generale>"}},
		{"<General/>,<Discovery>\n<Peers></Discovery>", []string{"2:20", "<Peers> closed by </Discovery>"}},
		{"</General>", []string{"closes nothing"}},
		{"<General a=b/>", []string{"1:", "quoted"}},
		{filepath.Join(dir, "absent.xml"), []string{"absent.xml", "no such file"}},
		{"file://" + filepath.Join(dir, "absent.xml"), []string{"absent.xml", "no such file"}},
	} {
		err := checkConfig(c.uri)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%q: error %v", c.uri, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: error %q: expected one line with %q", c.uri, err, want)
			}
		}
	}
}

func FuzzCheckFragment(f *testing.F) {
	for _, seed := range []string{
		"<a></>", "<a><b c='d'/></a>,x", "<!-- -->", "<a", "<?x?>", "<![CDATA[<]]>", "<a></></>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.HasPrefix(text, "<") {
			return
		}
		n, err := checkFragment(text)
		if err == nil && (n < 1 || n > len(text)) {
			t.Errorf("a fragment of %d bytes is %d long", len(text), n)
		}
	})
}
