package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Rows gives messages in the order of their times; those of the same time come
// in the order they were recorded.
type Rows struct {
	r    *Reader
	want map[int64]bool // nil: all
	in   *rows          // in order, nil: not begun, or done
	list []place        // salvaged rows, in order
	stmt driver.Stmt    // fetches one of them
	last place          // given last
	any  bool
	done bool
	msg  Message
}

// place is where a row stands in the order.
type place struct{ time, row int64 }

func (a place) compare(b place) int {
	switch {
	case a.time != b.time:
		return cmp(a.time, b.time)
	default:
		return cmp(a.row, b.row)
	}
}

func cmp(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Messages returns the messages of the topics that want accepts; nil wants all.
func (r *Reader) Messages(want func(*Topic) bool) (*Rows, error) {
	it := &Rows{r: r, done: r.db == nil}
	if want != nil {
		it.want = map[int64]bool{}
		for _, t := range r.tables.Topics {
			if want(t) {
				it.want[t.ID] = true
			}
		}
	}
	if it.done || len(r.tables.Topics) == 0 {
		it.done = true
		return it, nil
	}
	if r.salvage || r.ordered == "" {
		return it, it.startSalvage()
	}
	sql := "SELECT rowid, topic_id, timestamp, data FROM messages INDEXED BY " + quote(r.ordered) + it.where() + " ORDER BY timestamp, rowid"
	var err error
	if it.in, err = r.db.query(sql); err != nil && damaged(err) {
		return it, it.startSalvage()
	}
	return it, err
}

func (it *Rows) where() string {
	if it.want == nil {
		return ""
	}
	var ids []string
	for id := range it.want {
		ids = append(ids, fmt.Sprint(id))
	}
	return " WHERE topic_id IN (" + strings.Join(ids, ", ") + ")"
}

// Next returns the next message, or io.EOF after the last. The message and its
// data are valid until the following call. Unreadable rows are skipped and
// counted in Reader.Loss.
func (it *Rows) Next() (*Message, error) {
	for !it.done {
		var v []driver.Value
		var err error
		if it.in != nil {
			v, err = it.in.next()
		} else {
			v, err = it.fetch()
		}
		switch {
		case errors.Is(err, io.EOF):
			it.Close()
		case err != nil && it.in != nil && damaged(err):
			it.in.Close()
			it.in = nil
			if err := it.startSalvage(); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, err
		case v != nil && it.r.tables.Message(v, &it.msg):
			it.last, it.any = place{it.msg.Time, it.msg.Row}, true
			return &it.msg, nil
		}
	}
	return nil, io.EOF
}

// Close ends the reading; after io.EOF it has happened already.
func (it *Rows) Close() {
	it.done = true
	if it.in != nil {
		it.in.Close()
		it.in = nil
	}
	if it.stmt != nil {
		it.stmt.Close()
		it.stmt = nil
	}
}

// startSalvage finds the rows that can be reached, after those already given.
// It holds 16 bytes per message of the file.
func (it *Rows) startSalvage() error {
	it.r.salvage = it.r.ordered != ""
	var seen uint64
	err := it.r.list(func(row, topic, time int64) {
		p := place{time, row}
		if (it.want == nil || it.want[topic]) && (!it.any || p.compare(it.last) > 0) {
			it.list = append(it.list, p)
		}
	}, &seen)
	if err != nil {
		return err
	}
	slices.SortFunc(it.list, place.compare)
	it.stmt, err = it.r.db.Prepare("SELECT rowid, topic_id, timestamp, data FROM messages NOT INDEXED WHERE rowid = ?")
	return err
}

// fetch reads the next salvaged row; nil when its data cannot be read.
func (it *Rows) fetch() ([]driver.Value, error) {
	if len(it.list) == 0 {
		return nil, io.EOF
	}
	row := it.list[0].row
	it.list = it.list[1:]
	//lint:ignore SA1019 the driver's statements have no other plain query.
	in, err := it.stmt.Query([]driver.Value{row})
	if err == nil {
		v := make([]driver.Value, 4)
		err = in.Next(v)
		in.Close()
		if err == nil {
			return v, nil
		}
	}
	if damaged(err) || errors.Is(err, io.EOF) {
		it.r.tables.Lose(row, "cannot be read")
		return nil, nil
	}
	return nil, err
}
