package bag

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// merge reads the files of a bag together.
type merge struct {
	r      *Reader
	want   map[string]bool // nil: all topics
	queue  []*file         // not opened yet, by start time
	active []*source
	last   *source // of the message returned last
	zstd   *zstd.Decoder
	buf    []byte
}

// source is a file that is being read, with its next message.
type source struct {
	file  *file
	order int
	cursor
	msg *Message
}

// Messages iterates over the messages of the named topics, or of all topics when
// none is named. They are in the order of their log times, and as recorded for the
// same time. Time stamps in the messages do not matter. A message and its data are
// valid until the next one.
//
// An error ends the iteration. That of an unknown topic lists the bag's topics.
func (r *Reader) Messages(topics ...string) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		it, err := r.merge(topics)
		if err != nil {
			yield(nil, err)
			return
		}
		defer it.close()
		for {
			m, err := it.next()
			if m == nil && err == nil || !yield(m, err) || err != nil {
				return
			}
		}
	}
}

func (r *Reader) merge(topics []string) (*merge, error) {
	it := &merge{r: r}
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
	slices.SortStableFunc(it.queue, func(a, b *file) int { return cmp.Compare(a.Start, b.Start) })
	return it, nil
}

// next returns the next message, nil after the last.
func (it *merge) next() (*Message, error) {
	for {
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
			return nil, nil
		}
		it.last = s
		if !isZstd(s.msg.Data) || it.inflate(s) {
			return s.msg, nil
		}
	}
}

func (it *merge) close() {
	for _, s := range it.active {
		s.close()
	}
	if it.zstd != nil {
		it.zstd.Close()
	}
}

// begin opens every file that may have the next message.
func (it *merge) begin() error {
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
func (it *merge) pull(s *source) error {
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
func (it *merge) first() *source {
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
func (it *merge) inflate(s *source) bool {
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
