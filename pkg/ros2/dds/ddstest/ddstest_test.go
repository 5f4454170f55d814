package ddstest

import (
	"testing"

	"vnd/pkg/ros2/dds"
)

// discovering is an endpoint whose Matched advances by one step at each call. Its
// count of matches is always one.
type discovering struct {
	dds.Writer
	guid  dds.GUID
	steps [][]dds.GUID
	calls int
}

func (d *discovering) GUID() dds.GUID     { return d.guid }
func (d *discovering) Status() dds.Status { return dds.Status{Matched: 1, MatchedTotal: 1} }

func (d *discovering) Matched(f func(dds.GUID)) {
	for _, g := range d.steps[min(d.calls, len(d.steps)-1)] {
		f(g)
	}
	d.calls++
}

// Take is there for dds.Reader.
func (d *discovering) Take(int, func(*dds.Sample)) (int, error) { return 0, nil }

// A writer that still counts a closed reader has not matched the next one yet: samples
// that it writes then never arrive there.
func TestWaitMatchedWaitsForThisReader(t *testing.T) {
	closed, w, r := dds.GUID{1}, dds.GUID{2}, dds.GUID{3}
	for _, c := range []struct {
		name           string
		writer, reader [][]dds.GUID
	}{
		{"the writer lists the closed reader", [][]dds.GUID{{closed}, {closed}, {closed, r}}, [][]dds.GUID{{w}}},
		{"the writer lists nobody between the two", [][]dds.GUID{{closed}, {}, {r}}, [][]dds.GUID{{w}}},
		{"the reader lists the writer last", [][]dds.GUID{{r}}, [][]dds.GUID{{}, {}, {w}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			writer, reader := &discovering{guid: w, steps: c.writer}, &discovering{guid: r, steps: c.reader}
			h := &harness{t: t}
			h.waitMatched(writer, reader)
			if writer.calls < len(c.writer) || reader.calls < len(c.reader) {
				t.Errorf("asked the writer %d times of %d, the reader %d of %d: matched too early",
					writer.calls, len(c.writer), reader.calls, len(c.reader))
			}
		})
	}
}
