package table

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/bridge/logs/record/recordtest"
)

var layout = Layout{Separator: ",", Time: "t", Unit: 1e-3}

func TestChannelsAreThoseOfPython(t *testing.T) {
	recordtest.Hold(t, ".csv.json", func(name string, r io.Reader) (record.Reader, error) {
		return NewReader(name, r, layout)
	})
}

func TestLinesBecomeRows(t *testing.T) {
	r, err := NewReader("a.csv", strings.NewReader("\ufeff\"t\", x ,y\r\n\r\n1000, 2.5,\r\n2000,true,NaN\n"), layout)
	if err != nil {
		t.Fatal(err)
	}
	first, err := r.Next()
	if err != nil || first.T != 1 || first.Values[1] != 2.5 || !math.IsNaN(first.Values[2]) {
		t.Errorf("got %+v, %v", first, err)
	}
	second, err := r.Next()
	if err != nil || second.T != 2 || second.Values[1] != 1 {
		t.Errorf("got %+v, %v", second, err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last line: %v", err)
	}
}

func TestRefusesWhatIsNoTable(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"empty":            {"\n\n", "a.csv:2: empty, expected the names of the columns"},
		"no time":          {"x,y\n1,2\n", `a.csv:1: column "t": missing, expected the time; the table has "x y"`},
		"a name twice":     {"t,x,x\n", `a.csv:1: column "x" appears twice`},
		"many columns":     {"t" + strings.Repeat(",", 5000), "5001 columns, at most 4096"},
		"a word":           {"t,x\n1,2\n3,abc\n", `a.csv:3: column "x": "abc" is not a number`},
		"too few fields":   {"t,x\n1\n", "a.csv:2: 1 fields, expected 2"},
		"too many fields":  {"t,x\n1,2,3\n", "a.csv:2: more fields than the 2 columns"},
		"an endless line":  {"t,x\n1," + strings.Repeat("1", 1<<21), "a.csv:2: bufio.Scanner: token too long"},
		"bytes of a log":   {"\xbc\x02\x00", `a.csv:1: column "t": missing`},
		"breaks in a name": {"t,\"a\rb\",\"a\rb\"\n", `column "a\rb" appears twice`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader("a.csv", strings.NewReader(c.log), layout)
			recordtest.Refused(t, r, err, c.want)
		})
	}
}

func TestAFileThatCannotBeReadOnIsNamedAtItsLine(t *testing.T) {
	for name, text := range map[string]string{"within a line": "t,x\n1,2\n3", "within a number": "t,x\n1,2\n3,-",
		"behind a line": "t,x\n1,2\n"} {
		t.Run(name, func(t *testing.T) {
			in := io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF))
			r, err := NewReader("a.csv", in, layout)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := recordtest.Drain(t, r)
			if rows != 1 || err == nil || err.Error() != "a.csv:3: unexpected EOF" {
				t.Errorf("%d rows, %v", rows, err)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	f.Add("t,x\n1,2\n3,4\n")
	f.Add("\ufeff\"t\";y\n1e300;-0x1p4\n")
	f.Fuzz(func(t *testing.T, log string) {
		for _, separator := range []string{",", ";", "\t"} {
			r, err := NewReader("a.csv", strings.NewReader(log), Layout{Separator: separator, Time: "t", Unit: 1})
			if err != nil {
				continue
			}
			recordtest.Drain(t, r)
		}
	})
}
