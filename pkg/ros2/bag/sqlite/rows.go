package sqlite

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Rows iterates over messages in the order of their times, and of their row
// numbers for the same time.
type Rows struct {
	r    *Reader
	want map[int64]bool // nil: all
	in   *rows          // in order; nil while salvaging and at the end
	list []place        // salvaged rows, in order
	stmt driver.Stmt    // reads one of them
	last *place         // of the row returned last
	done bool
	msg  Message
}

// place is a row's position in the order.
type place struct{ time, row int64 }

func (a place) compare(b place) int {
	return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.row, b.row))
}

// Messages returns the messages of the topics that want accepts; nil accepts all.
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
	sql := "SELECT rowid, topic_id, timestamp, data FROM messages INDEXED BY " + quote(r.ordered) + it.where() +
		" ORDER BY timestamp, rowid"
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
			it.last = &place{it.msg.Time, it.msg.Row}
			return &it.msg, nil
		}
	}
	return nil, io.EOF
}

// Close ends the iteration. Next has closed it when it returns io.EOF.
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

// startSalvage lists the readable rows after those already returned. It takes 16
// bytes per message of the file.
func (it *Rows) startSalvage() error {
	it.r.salvage = it.r.ordered != ""
	var seen uint64
	err := it.r.list(func(row, topic, time int64) {
		p := place{time, row}
		if (it.want == nil || it.want[topic]) && (it.last == nil || p.compare(*it.last) > 0) {
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

// fetch reads the next salvaged row; nil when its data are unreadable.
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
