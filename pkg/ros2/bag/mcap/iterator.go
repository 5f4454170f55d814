package mcap

import (
	"container/heap"
	"io"
	"slices"
)

// keepLoaded bounds the bytes of loaded chunks while an iterator merges chunks
// whose times overlap. Chunks beyond it are dropped and loaded again.
const keepLoaded = 64 << 20

// Iterator returns messages in log-time order, and in file order for the same
// time. It sorts messages within a chunk. Chunks are ordered by the times in
// their headers.
type Iterator struct {
	r      *Reader
	want   []bool // by channel ID
	all    bool
	chunks []*chunk // still to load, by start time
	heap   cursors
	loaded int64
	spare  []*cursor // exhausted, for their buffers
	msg    Message
}

// cursor is a position in one loaded chunk.
type cursor struct {
	c        *chunk
	records  []byte // nil: dropped to save memory
	raw, out []byte
	entries  []entry
	pos      int
	time     uint64 // of entries[pos]
}

// cursors is a heap (container/heap) with the earliest message on top.
type cursors []*cursor

func (h cursors) Len() int      { return len(h) }
func (h cursors) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *cursors) Push(c any)   { *h = append(*h, c.(*cursor)) }

func (h cursors) Less(i, j int) bool {
	a, b := h[i], h[j]
	return a.time < b.time || a.time == b.time && a.c.seq < b.c.seq
}

func (h *cursors) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}

// Messages returns the messages of the channels that want accepts; nil wants
// all of them.
func (r *Reader) Messages(want func(*Channel) bool) *Iterator {
	it := &Iterator{r: r, all: want == nil}
	if want != nil {
		for _, c := range r.Channels() {
			if want(c) {
				it.want = append(it.want, make([]bool, int(c.ID)+1-len(it.want))...)
				it.want[c.ID] = true
			}
		}
	}
	for _, c := range r.chunks {
		if it.wantsChunk(c) {
			it.chunks = append(it.chunks, c)
		}
	}
	return it
}

func (it *Iterator) wantsID(id uint16) bool {
	return it.all || int(id) < len(it.want) && it.want[id]
}

// wantsChunk says whether a chunk can hold wanted messages. A chunk without
// message indexes has to be read to know.
func (it *Iterator) wantsChunk(c *chunk) bool {
	if c.broken {
		return false
	}
	if slices.ContainsFunc(c.channels, it.wantsID) {
		return true
	}
	return len(c.channels) == 0
}

// Next returns the next message, or io.EOF after the last. The message and its
// data are valid until the following call. Damaged chunks are skipped and
// counted in Reader.Loss.
func (it *Iterator) Next() (*Message, error) {
	it.advance()
	for {
		if err := it.open(); err != nil {
			return nil, err
		}
		if len(it.heap) == 0 {
			return nil, io.EOF
		}
		top := it.heap[0]
		if top.records == nil {
			if err := it.fill(top); err != nil {
				return nil, err
			}
			if top.records == nil { // unreadable since it was dropped
				it.pop()
				continue
			}
		}
		e := top.entries[top.pos]
		b := top.records[e.off:][:e.n:e.n]
		it.msg = Message{
			Channel:  it.r.channels[le.Uint16(b)],
			Sequence: le.Uint32(b[2:]), LogTime: e.time, PublishTime: le.Uint64(b[14:]),
			Data: b[messageHead:],
		}
		return &it.msg, nil
	}
}

// advance moves past the message that Next returned last.
func (it *Iterator) advance() {
	if it.msg.Channel == nil {
		return
	}
	it.msg.Channel = nil
	top := it.heap[0]
	top.pos++
	if top.pos == len(top.entries) {
		it.pop()
		return
	}
	top.time = top.entries[top.pos].time
	heap.Fix(&it.heap, 0)
}

// open loads every chunk that may hold the next message.
func (it *Iterator) open() error {
	for len(it.chunks) > 0 && (len(it.heap) == 0 || it.chunks[0].start <= it.heap[0].time) {
		cur := &cursor{}
		if n := len(it.spare); n > 0 {
			cur, it.spare = it.spare[n-1], it.spare[:n-1]
		}
		cur.c, cur.pos = it.chunks[0], 0
		it.chunks = it.chunks[1:]
		if err := it.fill(cur); err != nil {
			return err
		}
		if cur.records == nil || len(cur.entries) == 0 {
			it.release(cur)
			continue
		}
		cur.time = cur.entries[0].time
		heap.Push(&it.heap, cur)
	}
	return nil
}

// fill loads a cursor's chunk and drops others beyond keepLoaded. Records stay
// nil when the chunk cannot be read.
func (it *Iterator) fill(cur *cursor) error {
	for i := len(it.heap) - 1; i >= 0 && it.loaded > keepLoaded; i-- {
		if o := it.heap[i]; o != cur && o.records != nil {
			it.loaded -= o.weight()
			o.records, o.raw, o.out, o.entries = nil, nil, nil, nil
		}
	}
	var err error
	cur.records, cur.raw, cur.out, err = it.r.load(cur.c, cur.raw, cur.out)
	if err != nil {
		cur.records = nil
		return it.r.skip(cur.c, err)
	}
	cur.entries = it.r.index(cur.c, cur.records, it.wantsID, cur.entries)
	if cur.records == nil || cur.pos >= len(cur.entries) {
		cur.records = nil // an empty chunk, or a file that has changed
		return nil
	}
	it.loaded += cur.weight()
	return nil
}

func (cur *cursor) weight() int64 {
	return int64(cap(cur.raw) + cap(cur.out) + 16*cap(cur.entries))
}

// pop takes the top cursor off the heap.
func (it *Iterator) pop() {
	top := it.heap[0]
	if top.records != nil {
		it.loaded -= top.weight()
	}
	heap.Pop(&it.heap)
	it.release(top)
}

// release keeps two cursors of ordinary size, to re-use their buffers.
func (it *Iterator) release(cur *cursor) {
	if len(it.spare) < 2 && cur.weight() < keepLoaded/4 {
		cur.c, cur.records = nil, nil
		it.spare = append(it.spare, cur)
	}
}
