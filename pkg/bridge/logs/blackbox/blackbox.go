// Package blackbox reads flight logs of Betaflight and its relatives, front to back: Cleanflight's blackbox format,
// data versions 1 and 2. Topics are main (a row of the control loop), slow and gps; the instance is the log's number
// within the file, for one file may hold several flights.
package blackbox

import (
	"bytes"
	"errors"
	"io"

	"vnd/pkg/bridge/logs/record"
)

// Magic begins each log of a file.
var Magic = []byte("H Product:Blackbox")

const (
	maxFrame   = 256 // bytes of a frame without its letter
	maxJump    = 10e6
	maxSkip    = 5000
	iteration  = 0 // fields of a main frame that are always first
	timestamp  = 1
	endMessage = "End of log\x00"
)

// Reader streams the rows of all logs of a file.
type Reader struct {
	in    *record.Input
	want  func(topic string) bool
	about *record.About
	logs  int // begun
	log
}

// log is the state of one log of the file.
type log struct {
	header
	topics   map[byte]*record.Topic
	values   map[byte][]float64
	current  []int64
	previous []int64 // main frames before; valid while synced
	before   []int64
	home     []int64
	slow     []int64
	synced   bool // an intact I frame was seen
	seen     bool // any at all: last is valid
	over     bool // the log has ended; until the next, nothing counts
	lastStep int64
	lastTime int64
	rolled   int64 // µs that the 32-bit clock has rolled over
}

// NewReader reads a file that errors call name. want says of which topics rows are returned; nil is all.
func NewReader(name string, r io.Reader, want func(topic string) bool) (*Reader, error) {
	b := &Reader{in: record.NewInput(name, r), want: want, about: record.NewAbout()}
	head, err := b.in.Ahead(len(Magic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.HasPrefix(head, Magic) {
		return nil, b.in.Errorf(0, "no header of a blackbox log, expected %s", Magic)
	}
	return b, nil
}

// About implements record.Reader. Numbers of the header are parameters, all else is information.
func (b *Reader) About() *record.About { return b.about }

// Next implements record.Reader.
func (b *Reader) Next() (record.Record, error) {
	for {
		ahead, err := b.in.Ahead(2*maxFrame + 2)
		if len(ahead) == 0 {
			return record.Record{}, err
		}
		if bytes.HasPrefix(ahead, Magic) {
			if err := b.begin(); err != nil {
				return record.Record{}, err
			}
			continue
		}
		if b.over {
			b.in.Skip(max(1, bytes.Index(ahead, Magic[:1])))
			continue
		}
		kind := ahead[0]
		def := b.frames[kind]
		if kind != 'E' && def == nil {
			b.corrupt()
			continue
		}
		c := &cursor{b: ahead[1:min(len(ahead), maxFrame+1)]}
		if kind == 'E' {
			b.event(c)
			continue
		}
		n := b.decode(kind, def, c)
		if c.short || !b.completes(ahead[1+n:]) {
			b.corrupt()
			continue
		}
		ok := false
		var row record.Record
		if kind != 'P' || b.synced { // else it says what changed since a frame that is not known
			row, ok = b.accept(kind)
		}
		b.in.Skip(1 + n)
		if ok {
			return row, nil
		}
	}
}

// completes reports whether a frame may begin here, or the file ends.
func (b *Reader) completes(rest []byte) bool {
	return len(rest) == 0 || bytes.IndexByte([]byte("IPSGHE"), rest[0]) >= 0
}

// corrupt goes on behind the letter of a frame that is none.
func (b *Reader) corrupt() {
	b.about.Faults.Add(b.in.Offset(), "damaged: no frame where one is expected")
	b.synced = false
	b.in.Skip(1)
}

// begin reads the header of the next log.
func (b *Reader) begin() error {
	instance := b.logs
	b.logs++
	b.log = log{header: newHeader(), topics: map[byte]*record.Topic{}, values: map[byte][]float64{}}
	if err := b.read(b.in, b.about, instance == 0); err != nil {
		return err
	}
	main := b.frames['I']
	for kind, name := range map[byte]string{'I': "main", 'S': "slow", 'G': "gps"} {
		def := b.frames[kind]
		if def == nil || b.want != nil && !b.want(name) {
			continue
		}
		b.topics[kind] = &record.Topic{Name: name, Instance: instance, Fields: def.names}
		b.values[kind] = make([]float64, len(def.names))
	}
	b.current = make([]int64, len(main.names))
	b.previous = make([]int64, len(main.names))
	b.before = make([]int64, len(main.names))
	if h := b.frames['H']; h != nil {
		b.home = make([]int64, len(h.names))
	}
	return nil
}

// accept takes in an intact frame; ok is false where it makes no row.
func (b *Reader) accept(kind byte) (r record.Record, ok bool) {
	switch kind {
	case 'I', 'P':
		if !b.follows(kind) {
			b.about.Faults.Add(b.in.Offset(), "a main frame whose time or count jumps")
			b.synced = false
			return r, false
		}
		b.previous, b.before, b.current = b.current, b.previous, b.before
		if kind == 'I' { // the past before it is unknown
			copy(b.before, b.previous)
		}
		return b.row('I', b.previous, float64(b.lastTime)*1e-6)
	case 'H':
		copy(b.home, b.slow)
		return r, false
	}
	at := b.lastTime
	if i := b.frames[kind].time; i >= 0 {
		at = b.slow[i] + b.rolled
	}
	return b.row(kind, b.slow, float64(at)*1e-6)
}

// follows checks a main frame against the one before and moves time on.
func (b *Reader) follows(kind byte) bool {
	step, at := b.current[iteration], b.current[timestamp]
	if b.seen {
		if uint32(at) < uint32(b.lastTime) && uint32(at)-uint32(b.lastTime) < maxJump {
			b.rolled += 1 << 32
		}
		at = int64(uint32(at)) + b.rolled
		if step < b.lastStep || step >= b.lastStep+maxSkip || at < b.lastTime || at >= b.lastTime+maxJump {
			// The log may have paused: the next I frame begins anew.
			b.seen = kind != 'I'
			return false
		}
	}
	b.current[timestamp] = at
	b.lastStep, b.lastTime = step, at
	b.synced, b.seen = true, true
	return true
}

// row is a frame as the row of a topic, if that is wanted.
func (b *Reader) row(kind byte, frame []int64, t float64) (record.Record, bool) {
	topic := b.topics[kind]
	name := map[byte]string{'I': "main", 'S': "slow", 'G': "gps"}[kind]
	b.about.Topics[name]++
	if topic == nil {
		return record.Record{}, false
	}
	out := b.values[kind]
	for i := range out {
		out[i] = float64(frame[i])
	}
	return record.Record{Topic: topic, T: t, Values: out}, true
}

// event takes in an event; an unknown one is damage, for its length is unknown.
func (b *Reader) event(c *cursor) {
	switch kind := c.byte(); kind {
	case 0, 15, 40, 50, 51, 52: // beep, disarm, faults and states of relatives
		c.unsigned()
	case 13: // adjustment
		if c.byte()&0x80 != 0 {
			c.skip(4)
		} else {
			c.unsigned()
		}
	case 14: // the log goes on after a pause
		step, at := c.unsigned(), c.unsigned()
		if !c.short {
			b.lastStep, b.lastTime = int64(step), int64(at)+b.rolled
		}
	case 30: // flight mode
		c.unsigned()
		c.unsigned()
	case 100, 101: // data and texts of relatives
		c.skip(int(c.byte()))
	case 255:
		if !bytes.HasPrefix(c.rest(), []byte(endMessage[:len(endMessage)-1])) {
			b.corrupt()
			return
		}
		c.skip(min(len(endMessage), len(c.rest())))
		b.over = true
	default:
		b.corrupt()
		return
	}
	if c.short {
		b.corrupt()
		return
	}
	b.in.Skip(1 + c.at)
}

// skipped counts the loop iterations that the log leaves out on purpose after the last frame.
func (b *Reader) skipped() int64 {
	place := (b.lastStep + 1) % b.everyI
	phase := (place + b.num - 1) % b.den
	if phase < b.num {
		return 0
	}
	return min(b.den-phase, b.everyI-place)
}
