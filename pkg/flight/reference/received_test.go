package reference

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"vnd/pkg/core/param"
)

// hostile are texts that a caller without good will sends, with what is said of them.
func hostile(t testing.TB) map[string][2]string {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	file := func(path string) [2]string {
		return [2]string{fmt.Sprintf(`{"kind":"csv","file":%q}`, path), "names a file"}
	}
	points := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("[0,0,1],", n), ",") + "]" }
	return map[string][2]string{
		"a file of the system": file("/etc/passwd"), "a FIFO": file(fifo), "a device": file("/dev/zero"),
		"a file without end": file("/dev/urandom"), "a terminal": file("/dev/tty"), "nowhere": file("/no/such/file"),
		"a file of the process": file("/proc/self/environ"),
		"too many points":       {`{"kind":"polynomial","points":` + points(1000) + `}`, "at most 65"},
		"a million points": {`{"kind":"polynomial","points":` + points(1_000_000) + `}`,
			"bytes, expected at most"},
		"NaN":          {`{"kind":"hover","point":[NaN,0,1]}`, "JSON at byte"},
		"1e999":        {`{"kind":"hover","point":[1e999,0,1]}`, "point"},
		"deep nesting": {`{"kind":"hover","point":` + strings.Repeat("[", 30_000), "JSON at byte"},
		"closed deep nesting": {
			`{"kind":"hover","point":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}",
			"element 0"},
		"a huge string":    {`{"kind":"hover","point":"` + strings.Repeat("x", 60_000) + `"}`, "got the string"},
		"a huge key":       {`{"kind":"hover","` + strings.Repeat("x", 60_000) + `":1}`, "unknown"},
		"a huge kind":      {`{"kind":"` + strings.Repeat("x", 60_000) + `"}`, "is none"},
		"a huge number":    {`{"kind":"hover","yaw":` + strings.Repeat("9", 60_000) + `}`, "yaw"},
		"uneven times":     {`{"kind":"polynomial","points":` + points(3) + `,"times":[0,0.02,100000]}`, ""},
		"a table too fine": {`{"kind":"csv","table":"t,x,y,z\n0,0,0,1\n1e-9,0,0,1\n"}`, "at least 0.0001"},
		"a table of NaN":   {`{"kind":"csv","table":"t,x,y,z\n0,NaN,0,1\n1,0,0,1\n"}`, "expected a number"},
		"both of csv":      {`{"kind":"csv","table":"t,x,y,z\n","file":"/dev/zero"}`, "names a file"},
	}
}

// What a message says is parsed within a second and 50 MB, whoever sent it, and opens no file.
func TestParseReceivedIsBounded(t *testing.T) {
	for name, c := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begun := time.Now()
			_, err := ParseReceived("reference_json", []byte(c[0]))
			if took := time.Since(begun); took > time.Second {
				t.Errorf("took %v", took)
			}
			runtime.ReadMemStats(&after)
			if all := after.TotalAlloc - before.TotalAlloc; all > 50e6 {
				t.Errorf("%d bytes", all)
			}
			if c[1] == "" {
				return
			}
			if err == nil || !strings.Contains(err.Error(), c[1]) || len(err.Error()) > 600 {
				t.Errorf("%.700v, expected %s", err, c[1])
			}
		})
	}
}

// A table travels by its content.
func TestTableByContent(t *testing.T) {
	text := "t,x,y,z\n0,0,0,1\n1,0.5,0,1\n2,1,0,1\n"
	file := filepath.Join(t.TempDir(), "path.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read := made(t, &CSV{File: file})
	data, err := Format(&CSV{Table: text})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseReceived("reference_json", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []float64{0, 0.3, 1.2, 9} {
		if r.At(at) != read.At(at) {
			t.Errorf("at %g s: %+v, of the file %+v", at, r.At(at), read.At(at))
		}
	}
}

// Files that never end are no tables, on the command line either.
func TestCSVReadsFilesAlone(t *testing.T) {
	for _, path := range []string{"/dev/zero", t.TempDir()} {
		if _, err := New(&CSV{File: path}); err == nil || !strings.Contains(err.Error(), "is not a file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestCheckPace(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
	}{
		"as flown": {`{"kind":"figure_eight"}`, ""},
		"too fast": {`{"kind":"figure_eight","width":200,"depth":1,"period":60}`, "too fast at t = "},
		"too abrupt": {`{"kind":"figure_eight","width":1,"depth":0.5,"period":0.7}`,
			"asks for too much thrust at t = "},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ParseReceived("reference_json", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			err = CheckPace(r, 6, 20)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, expected %q", err, c.want)
			}
		})
	}
}

// FuzzParseReceived gives the parser of messages any bytes: it ends soon and says what is wrong on one short line.
func FuzzParseReceived(f *testing.F) {
	for _, kind := range kinds {
		s := kind()
		param.Default(s)
		text, err := Format(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"kind":"csv","table":"t,x,y,z\n0,0,0,1\n1,0,0,1\n"}`))
	f.Add([]byte(`{"kind":"csv","file":"/dev/zero"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		begun := time.Now()
		r, err := ParseReceived("fuzz", data)
		if err == nil {
			err = CheckPace(r, 6, 20)
		}
		if took := time.Since(begun); took > 10*time.Second { // the engine keeps all processors busy
			t.Errorf("took %v", took)
		}
		if err != nil {
			if text := err.Error(); len(text) > 1000 || strings.Contains(text, "\n") {
				t.Errorf("%d bytes: %.200q", len(text), text)
			}
			return
		}
		if o, ok := r.Spec().(Opener); ok && o.Opens() != "" {
			t.Errorf("opened %s", o.Opens())
		}
	})
}
