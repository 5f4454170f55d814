package bag

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/klauspost/compress/zstd"
)

// Iterator returns the messages of a bag in the order of their log times, and as
// recorded for the same time. Time stamps in the messages do not matter.
type Iterator struct {
	r      *Reader
	want   map[string]bool // nil: all
	queue  []*file         // not opened yet, by start time
	active []*source
	last   *source // of the message returned last
	zstd   *zstd.Decoder
	buf    []byte
	closed bool
}

// source is a file that is being read, with its next message.
type source struct {
	file  *file
	order int
	cursor
	msg *Message
}

// Messages returns the messages of the named topics, or of all topics when none
// is named. The error for an unknown topic lists the bag's topics.
func (r *Reader) Messages(topics ...string) (*Iterator, error) {
	it := &Iterator{r: r}
	for _, name := range topics {
		if !slices.ContainsFunc(r.summary.Topics, func(t Topic) bool { return t.Name == name }) {
			return nil, fmt.Errorf("bag %s: no topic %q in it; it has %s", r.path, name, names(r.summary.Topics))
		}
		if it.want == nil {
			it.want = map[string]bool{}
		}
		it.want[name] = true
	}
	it.queue = slices.Clone(r.files)
	sort.SliceStable(it.queue, func(i, j int) bool { return it.queue[i].Start < it.queue[j].Start })
	return it, nil
}

// Next returns the next message, or io.EOF after the last. The message and its
// data are valid until the following call.
func (it *Iterator) Next() (*Message, error) {
	for !it.closed {
		if s := it.last; s != nil {
			it.last = nil
			if err := it.pull(s); err != nil {
				return nil, err
			}
		}
		if err := it.begin(); err != nil {
			return nil, err
		}
		s := it.first()
		if s == nil {
			it.Close()
			break
		}
		it.last = s
		if !isZstd(s.msg.Data) || it.inflate(s) {
			return s.msg, nil
		}
	}
	return nil, io.EOF
}

// Close ends the iteration. Next has closed it when it returns io.EOF.
func (it *Iterator) Close() {
	it.closed = true
	for _, s := range it.active {
		s.close()
	}
	it.active, it.queue, it.last = nil, nil, nil
	if it.zstd != nil {
		it.zstd.Close()
		it.zstd = nil
	}
}

// begin opens every file that may have the next message.
func (it *Iterator) begin() error {
	for len(it.queue) > 0 {
		f := it.queue[0]
		if s := it.first(); s != nil && s.msg.LogTime < f.Start {
			return nil
		}
		it.queue = it.queue[1:]
		c, err := f.messages(func(topic string) bool { return it.want == nil || it.want[topic] })
		if err != nil {
			return fmt.Errorf("bag %s: %s: %w", it.r.path, f.Name, err)
		}
		s := &source{file: f, order: slices.Index(it.r.files, f), cursor: c}
		it.active = append(it.active, s)
		if err := it.pull(s); err != nil {
			return err
		}
	}
	return nil
}

// pull reads a source's next message, and drops the source at its end.
func (it *Iterator) pull(s *source) error {
	var err error
	s.msg, err = s.next()
	if err == nil {
		return nil
	}
	s.close()
	it.active = slices.DeleteFunc(it.active, func(o *source) bool { return o == s })
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("bag %s: %s: %w", it.r.path, s.file.Name, err)
}

// first is the source with the earliest message. There are several only where
// split files overlap.
func (it *Iterator) first() *source {
	var best *source
	for _, s := range it.active {
		if best == nil || s.msg.LogTime < best.msg.LogTime ||
			s.msg.LogTime == best.msg.LogTime && s.order < best.order {
			best = s
		}
	}
	return best
}

// inflate decompresses a message in place. It returns false, and counts the
// message as lost, when its data are damaged.
func (it *Iterator) inflate(s *source) bool {
	var err error
	if it.zstd == nil {
		it.zstd, err = zstd.NewReader(nil, zstdOptions...)
	}
	if err == nil {
		it.buf, err = inflateMessage(it.zstd, s.msg.Data, it.buf)
	}
	if key := (badMessage{s.file, s.msg.Topic, s.msg.LogTime}); err != nil && !it.r.bad[key] {
		it.r.bad[key] = true
		it.r.lost.Messages++
		it.r.lost.Note("%s: %s at %d ns: %v", s.file.Name, s.msg.Topic, s.msg.LogTime, err)
	}
	s.msg.Data = it.buf
	return err == nil
}
