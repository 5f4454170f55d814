// Package logs turns the logs of vehicles into flights: state, measured body rates, motor commands, battery voltage,
// commands of thrust and rates, on one clock, in our frames and units.
//
// A reader per format streams the rows (packages ulog, …). A table per autopilot says which of them are channels. What
// a fit must not see is found here and named: rows that were interpolated or repeated, gaps, clocks that wander.
package logs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/logs/record"
)

// Channel is one quantity of a flight.
type Channel int

// The channels, in our frames and units: world ENU, body FLU, SI.
const (
	Position Channel = iota // p_W, m
	Velocity                // v_W, m/s
	Attitude                // q_WB: w, x, y, z
	Rates                   // ω_B measured, rad/s
	Motors                  // commands, 0…1: front right, rear right, rear left, front left
	Battery                 // V
	Thrust                  // commanded share of the greatest thrust, 0…1
	Commands                // commanded ω_B, rad/s
	Flying                  // 1 in the air, 0 on the ground
	channels
)

var channelNames = [channels]string{"position", "velocity", "attitude", "body rates", "motor commands", "battery",
	"thrust command", "rate commands", "in flight"}

var widths = [channels]int{3, 3, 4, 3, 4, 1, 1, 3, 1}

func (c Channel) String() string { return channelNames[c] }

// Log is what a fit can use of a log.
type Log struct {
	Path   string
	Kind   string // of the file, in words
	About  *record.About
	Series [channels]Series
	Start  float64 // s on the log's own clock that is 0 here
	// Throttle is how thrust commands, 0…1, become thrust; its Hover of 0 is unknown.
	Throttle bridge.Throttle
	HoverOf  string // where its Hover comes from
	// Ordered says that the log itself places the motors; else the autopilot's default was taken.
	Ordered bool
	Notes   []string // assumptions that reading made
	// Refused counts rows by channel that were left out: not finite, beyond 1e9, or at a time that does not advance.
	Refused [channels]int
	idle    float64 // motor command of an armed vehicle on the ground
}

// Has reports whether the log has a channel.
func (l *Log) Has(c Channel) bool { return len(l.Series[c].T) > 0 }

// format is one kind of log.
type format struct {
	kind   string
	is     func(head []byte) bool
	open   func(name string, r io.Reader, want func(string) bool) (record.Reader, error)
	fields []mapping
	finish func(l *Log, c *collector) error
	// longest takes of several instances of a topic the longest, not the first.
	longest bool
}

var formats = []format{px4, betaflight, ardupilot, crazyflie}

// ErrUnknown says that a file is no log of a known kind.
var ErrUnknown = errors.New("no log of a known kind, expected ULog, DataFlash, blackbox, uSD, or --mapping of a table")

// Read reads the log at path, a file or the folder of a rosbag; its content tells the kind. m says what the columns of
// a table are; without one a table is known if it has those that an import writes. Tables may be compressed with gzip.
func Read(path string, m *Mapping) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if isBag(path, info.IsDir()) {
		return readBag(path)
	}
	return Parse(path, f, m)
}

// headBytes of a file tell its kind.
const headBytes = 4096

// Parse reads a log that errors call name.
func Parse(name string, r io.Reader, m *Mapping) (*Log, error) {
	b := bufio.NewReaderSize(r, headBytes)
	head, err := b.Peek(headBytes)
	if bytes.HasPrefix(head, []byte{0x1F, 0x8B}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b = bufio.NewReaderSize(z, headBytes)
		head, err = b.Peek(headBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if i := slices.IndexFunc(formats, func(f format) bool { return f.is(head) }); i >= 0 {
		return formats[i].parse(name, b)
	}
	if m == nil {
		m = known(head)
	}
	if m == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	f, err := m.format()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f.parse(name, b)
}

func (f *format) parse(name string, r io.Reader) (*Log, error) {
	c := newCollector(f.fields, f.longest)
	reader, err := f.open(name, r, c.wants)
	if err != nil {
		return nil, err
	}
	if err := c.collect(reader); err != nil {
		return nil, err
	}
	l := &Log{Path: name, Kind: f.kind, About: reader.About(), Series: c.best(), Refused: c.refused}
	if err := f.finish(l, c); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l.begin()
	l.inferFlying()
	return l, nil
}

// aboveIdle is what a motor turns above idle in the air.
const aboveIdle = 0.03

// inferFlying says from the motors when the vehicle is in the air, where the log does not.
func (l *Log) inferFlying() {
	m, f := &l.Series[Motors], &l.Series[Flying]
	if l.Has(Flying) || !l.Has(Motors) {
		return
	}
	*f = Series{Source: m.Source, Width: 1}
	for i, t := range m.T {
		if state := btof(maximum(m.Row(i)) > l.idle+aboveIdle); i == 0 || state != f.V[len(f.V)-1] {
			f.add(t, []float64{state})
		}
	}
}

func btof(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// begin sets the clock to 0 at the first row of all.
func (l *Log) begin() {
	l.Start = math.Inf(1)
	for c := range channels {
		if l.Has(c) {
			l.Start = min(l.Start, l.Series[c].T[0])
		}
	}
	for c := range channels {
		for i := range l.Series[c].T {
			l.Series[c].T[i] -= l.Start
		}
	}
}

// Summary lists what the log has: channels with their rates and, where there are none, its topics.
func (l *Log) Summary() string {
	var has []string
	for c := range channels {
		if s := &l.Series[c]; l.Has(c) && c != Flying {
			has = append(has, fmt.Sprintf("%s %.0f Hz", c, s.Rate()))
		}
	}
	if len(has) == 0 {
		for _, name := range slices.Sorted(maps.Keys(l.About.Topics)) {
			has = append(has, fmt.Sprintf("%s %d", name, l.About.Topics[name]))
		}
		if len(has) > 20 {
			has = append(has[:20], "…")
		}
	}
	if len(has) == 0 {
		return "nothing"
	}
	return strings.Join(has, ", ")
}
