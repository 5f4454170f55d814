// Package table reads logs that are text: a line of names, then lines of numbers.
package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"vnd/pkg/bridge/logs/record"
)

// Topic is the name of the one topic of a table.
const Topic = "table"

const (
	maxLine   = 1 << 20
	maxFields = 4096
)

// Layout says how a table is read.
type Layout struct {
	Separator string  // between fields
	Time      string  // the column with the time
	Unit      float64 // of the time, s
}

// Reader streams the lines of a table.
type Reader struct {
	name   string
	lines  *bufio.Scanner
	layout Layout
	about  *record.About
	topic  *record.Topic
	values []float64
	line   int
	time   int // its column
}

// NewReader reads a table that errors call name, and its first line at once.
func NewReader(name string, r io.Reader, layout Layout) (*Reader, error) {
	t := &Reader{name: name, lines: bufio.NewScanner(r), layout: layout, about: record.NewAbout()}
	t.lines.Buffer(nil, maxLine)
	head, err := t.next()
	if errors.Is(err, io.EOF) {
		return nil, t.errorf("", "empty, expected the names of the columns")
	}
	if err != nil {
		return nil, err
	}
	names, err := Names(strings.TrimPrefix(head, "\ufeff"), layout.Separator)
	if err != nil {
		return nil, t.errorf("", "%s", err)
	}
	if t.time = slices.Index(names, layout.Time); t.time < 0 {
		return nil, t.errorf(layout.Time, "missing, expected the time; the table has %.200q", strings.Join(names, " "))
	}
	t.topic = &record.Topic{Name: Topic, Fields: names}
	t.values = make([]float64, len(names))
	return t, nil
}

// Names are the columns of a first line.
func Names(line, separator string) ([]string, error) {
	names := strings.Split(line, separator)
	if len(names) > maxFields {
		return nil, fmt.Errorf("%d columns, at most %d", len(names), maxFields)
	}
	for i := range names {
		names[i] = strings.Trim(strings.TrimSpace(names[i]), `"`)
		if k := slices.Index(names[:i], names[i]); k >= 0 && names[i] != "" {
			return nil, fmt.Errorf("column %.40q appears twice", names[i])
		}
	}
	return names, nil
}

// About implements record.Reader.
func (t *Reader) About() *record.About { return t.about }

// next returns the next line that is not empty.
func (t *Reader) next() (string, error) {
	for t.lines.Scan() {
		t.line++
		if line := strings.TrimSpace(t.lines.Text()); line != "" {
			return line, nil
		}
	}
	if err := t.lines.Err(); err != nil {
		t.line++
		return "", t.errorf("", "%s", err)
	}
	return "", io.EOF
}

// errorf is an error on one line with file, line and column.
func (t *Reader) errorf(column, format string, args ...any) error {
	where := fmt.Sprintf("%s:%d: ", t.name, max(1, t.line))
	if column != "" {
		where += fmt.Sprintf("column %.40q: ", column)
	}
	return errors.New(where + fmt.Sprintf(format, args...))
}

// Next implements record.Reader. An empty field is not a number.
func (t *Reader) Next() (record.Record, error) {
	line, err := t.next()
	if err != nil {
		return record.Record{}, err
	}
	if err := t.parse(line); err != nil {
		if cut := t.lines.Err(); cut != nil {
			err = t.errorf("", "%s", cut) // the file ends within this line
		}
		return record.Record{}, err
	}
	t.about.Topics[Topic]++
	return record.Record{Topic: t.topic, T: t.values[t.time] * t.layout.Unit, Values: t.values}, nil
}

// parse takes in the fields of a line.
func (t *Reader) parse(line string) (err error) {
	count := 0
	for field := range strings.SplitSeq(line, t.layout.Separator) {
		if count == len(t.values) {
			return t.errorf("", "more fields than the %d columns", len(t.values))
		}
		field = strings.Trim(strings.TrimSpace(field), `"`)
		if t.values[count], err = number(field); err != nil {
			return t.errorf(t.topic.Fields[count], "%.24q is not a number", field)
		}
		count++
	}
	if count < len(t.values) {
		return t.errorf("", "%d fields, expected %d as in the first line", count, len(t.values))
	}
	return nil
}

func number(field string) (float64, error) {
	switch strings.ToLower(field) {
	case "", "nan", "na", "null", "none":
		return math.NaN(), nil
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	x, err := strconv.ParseFloat(field, 64)
	if errors.Is(err, strconv.ErrRange) {
		return x, nil
	}
	return x, err
}
