package blackbox

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/bridge/logs/record/recordtest"
)

// TestChannelsAreThoseOfOtherReaders holds main frames against orangebox and blackbox_decode.
func TestChannelsAreThoseOfOtherReaders(t *testing.T) {
	for _, end := range []string{".bbl.json", ".bbl.tools.json"} {
		recordtest.Hold(t, end, func(name string, r io.Reader) (record.Reader, error) {
			return NewReader(name, r, func(topic string) bool { return topic == "main" })
		})
	}
}

const (
	fields = "H Field I name:loopIteration,time,motor[0],motor[1]\nH Field I signed:0,0,0,0\n" +
		"H Field I predictor:0,0,0,5\nH Field I encoding:1,1,1,0\n" +
		"H Field P predictor:6,2,1,1\nH Field P encoding:9,0,0,0\n"
	start = "H Product:Blackbox flight data recorder\nH Data version:2\nH I interval:4\nH P interval:1\n"
	intra = "I\x04\x0a\x02\x04" // iteration 4, 10 µs, motors 2 and 4
	inter = "P\x02\x02\x01"     // 1 µs more than before, motors +1 and −1
	ended = "E\xffEnd of log\x00"
)

func TestDamageIsSteppedOver(t *testing.T) {
	head := start + fields
	for name, c := range map[string]struct {
		log   string
		rows  int
		fault string
	}{
		"an empty log":           {head, 0, ""},
		"two frames":             {head + intra + inter, 2, ""},
		"the end of the log":     {head + intra + ended, 1, ""},
		"rows behind the end":    {head + intra + ended + "\xff\xff" + intra + inter, 1, ""},
		"a second log":           {head + intra + ended + head + intra + inter, 3, ""},
		"a log within a log":     {head + intra + head + intra, 2, ""},
		"no intact frame before": {head + inter + inter + intra + inter, 2, ""},
		"cut off":                {head + intra + inter[:2], 1, "damaged"},
		"garbage":                {head + intra + "xyz" + inter + intra[:1] + "\x08" + intra[2:], 1, "damaged"},
		"an unknown event":       {head + intra + "E\x63", 1, "damaged"},
		"a false end":            {head + intra + "E\xffEnd of lob", 1, "damaged"},
		"time that goes back":    {head + intra + "I\x05\x01\x02\x04", 1, "jumps"},
		"a pause that is announced": {head + intra + "E\x0e\x80\x80\x08\x80\x80\x80\x08" +
			"I\x80\x80\x08\x81\x80\x80\x08\x02\x04", 2, ""},
		"events": {head + intra + "E\x00\x01E\x0d\x01\x01E\x0d\x81abcdE\x0f\x01E\x1e\x01\x02" + inter, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader("a.bbl", strings.NewReader(c.log), nil)
			recordtest.Damaged(t, r, err, c.rows, c.fault)
		})
	}
}

func TestRefusesWhatIsNoBlackbox(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"empty":        {"", "a.bbl: byte 0: no header of a blackbox log"},
		"another file": {"ULog\x01\x12\x35", "a.bbl: byte 0: no header of a blackbox log"},
		"no fields":    {start, "no main frame, expected a line H Field I name:loopIteration,time"},
		"a version": {"H Product:Blackbox\nH Data version:3\n",
			`a.bbl: byte 19: data version "3", expected 1 or 2`},
		"an endless line": {start + "H " + strings.Repeat("x", 1<<15), "a header line without an end"},
		"endless lines":   {start + strings.Repeat("H a:b\n", 1<<13), "more than 4096 header lines"},
		"no colon":        {start + "H abc\n", "a header line without a colon"},
		"many fields":     {start + "H Field I name:" + strings.Repeat("a,", 300) + "\n", "301 fields, at most 256"},
		"no number":       {start + "H Field I signed:1,x\n", `"x" in Field "I signed", expected a number`},
		"an interval":     {start + "H P interval:4/2\n", `P interval "4/2", expected N or N/M`},
		"an encoding": {start + strings.Replace(fields, "encoding:1,1,1,0", "encoding:1,1,1,2", 1),
			"encoding 2 of I frames, expected 0, 1, 3, 6"},
		"a group": {start + strings.Replace(fields, "encoding:1,1,1,0", "encoding:1,1,1,7", 1),
			"a group of 3 at the end"},
		"a predictor": {start + strings.Replace(fields, "predictor:0,0,0,5", "predictor:0,0,0,7", 1),
			"predictor 7 of I frames cannot be followed"},
		"missing numbers": {start + strings.Replace(fields, "predictor:0,0,0,5", "predictor:0,0,0", 1),
			"frame I has 4 names, 4 signs, 3 predictors, 4 encodings"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader("a.bbl", strings.NewReader(c.log), nil)
			recordtest.Refused(t, r, err, c.want)
		})
	}
}

// TestEncodings decodes by hand what no recorded log at hand has.
func TestEncodings(t *testing.T) {
	c := func(b ...byte) *cursor { return &cursor{b: b} }
	for name, k := range map[string]struct {
		got, want [4]int64
	}{
		"fours of version 1": {c(0b11_10_01_01, 0x2F, 0xFE, 0x34, 0x12).fours(1), [4]int64{-1, 2, -2, 0x1234}},
		"fours of version 2": {c(0b11_10_01_00, 0x1F, 0xE1, 0x23, 0x40).fours(2), [4]int64{0, 1, -2, 0x1234}},
		"5, 5 and 4 bits":    {three(c(0b01_11111_0, 0b0001_1000).threes(true)), [4]int64{-1, 1, -8}},
		"8, 7 and 7 bits":    {three(c(0b10_111111, 0b11_000000, 0b1_1000000).threes(true)), [4]int64{-1, 1, -64}},
		"widths of their own": {three(c(0b11_10_01_00, 0xFF, 0x00, 0x80, 1, 0, 0).threes(true)),
			[4]int64{-1, -32768, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if k.got != k.want {
				t.Errorf("got %v, want %v", k.got, k.want)
			}
		})
	}
}

func three(v [3]int64) [4]int64 { return [4]int64{v[0], v[1], v[2]} }

func FuzzReader(f *testing.F) {
	f.Add([]byte(start + fields + intra + inter + ended))
	f.Add([]byte(start + fields + "H Field S name:a,b,c,d,e,f\nH Field S predictor:0,4,8,9,10,11\n" +
		"H Field S encoding:8,8,8,8,3,9\nH Field G name:time,x,y\n" +
		"H Field G predictor:10,7,7\nH Field G encoding:10,10,10\n" +
		"H Field H name:x,y\nH Field H predictor:0,0\nH Field H encoding:6,6\n" + intra +
		"S\x00\x01H\x00G\x00E\x0e\x01\x01"))
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := NewReader("a.bbl", bytes.NewReader(log), nil)
		if err != nil {
			return
		}
		if rows, _ := recordtest.Drain(t, r); rows > len(log) {
			t.Fatalf("%d rows in %d bytes", rows, len(log))
		}
	})
}
