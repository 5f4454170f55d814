// Package record is what every reader of a vehicle's log gives: rows of named fields with a time, topic by topic.
package record

import "fmt"

// Topic is one named stream of rows.
type Topic struct {
	Name     string
	Instance int      // of several sensors or batteries of one name, from 0
	Fields   []string // names in the log's own words
}

// Record is one row of a topic.
type Record struct {
	Topic  *Topic    // the same pointer for every row of a topic
	T      float64   // s on the log's own clock
	Values []float64 // one per field, in the log's own units; the next row overwrites them
}

// Reader streams the rows of a log.
type Reader interface {
	// Next returns the next row of a topic that is wanted, and io.EOF after the last.
	Next() (Record, error)
	// About returns what the log says of itself, as far as it was read.
	About() *About
}

// Narrower is a Reader that need not decode all of a row.
type Narrower interface {
	// Narrow says which fields are looked at in later rows of the topic of the last row; none: no such row is wanted.
	Narrow(places []int)
}

// About is what a log says of itself beside its rows.
type About struct {
	Info       map[string]string  // firmware, hardware, …
	Parameters map[string]float64 // of the autopilot, at the start of the log
	Topics     map[string]int     // rows by topic, those that are not wanted included
	Faults     Faults
}

// NewAbout returns an empty one.
func NewAbout() *About {
	return &About{Info: map[string]string{}, Parameters: map[string]float64{}, Topics: map[string]int{}}
}

// maxEntries bounds each list of a log that names things, whatever the log claims.
const maxEntries = 1 << 14

// SetInfo keeps a text that the log has about itself.
func (a *About) SetInfo(key, value string) {
	if len(a.Info) < maxEntries && len(value) <= 256 {
		a.Info[key] = value
	}
}

// SetParameter keeps a parameter of the autopilot.
func (a *About) SetParameter(name string, value float64) {
	if len(a.Parameters) < maxEntries {
		a.Parameters[name] = value
	}
}

// Fault is damage that a reader stepped over.
type Fault struct {
	Offset int64  // of the first, bytes from the start of the file
	Text   string // what is wrong
	Count  int
}

// Faults are counted by kind.
type Faults []Fault

// Add counts a fault; the first of each kind keeps its offset.
func (f *Faults) Add(offset int64, text string) {
	for i := range *f {
		if (*f)[i].Text == text {
			(*f)[i].Count++
			return
		}
	}
	if len(*f) < 64 {
		*f = append(*f, Fault{Offset: offset, Text: text, Count: 1})
	}
}

// Lines returns one line per kind of fault.
func (f Faults) Lines() (lines []string) {
	for _, x := range f {
		lines = append(lines, fmt.Sprintf("%s, %d times, first at byte %d", x.Text, x.Count, x.Offset))
	}
	return lines
}
