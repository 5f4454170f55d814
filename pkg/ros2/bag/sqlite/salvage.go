package sqlite

import (
	"database/sql/driver"
	"errors"
	"io"
	"math"
)

// errOrder is damage that SQLite does not detect: pages linked in the wrong
// order.
var errOrder = errors.New("row numbers out of order")

// list visits every readable row of the table in the order of row numbers. It
// skips damaged pages. Rows of the wrong type or without a topic are counted as
// lost; seen counts all.
func (r *Reader) list(visit func(row, topic, time int64), seen *uint64) error {
	for last := int64(math.MinInt64); ; {
		err := r.listFrom(&last, visit, seen)
		if err == nil {
			return nil
		}
		if !damaged(err) && !errors.Is(err, errOrder) {
			return err
		}
		r.salvage = true
		resume, ok := r.skipDamage(last)
		first := !r.gaps[last]
		r.gaps[last] = true
		if first {
			r.tables.Loss.Chunks++
			r.tables.Loss.Note("after row %d: %v", max(last, 0), err)
		}
		if !ok {
			return nil
		}
		// Row numbers have no gaps in a complete file, so a gap is a loss.
		if first {
			r.tables.Loss.Messages += uint64(resume - max(last, 0))
		}
		last = resume
	}
}

// rowsAfter selects the rows after a row number.
const rowsAfter = "SELECT rowid, topic_id, timestamp FROM messages NOT INDEXED WHERE rowid > ? ORDER BY rowid"

// listFrom visits rows after *last and advances it, until the end or an error.
func (r *Reader) listFrom(last *int64, visit func(row, topic, time int64), seen *uint64) error {
	in, err := r.db.query(rowsAfter, *last)
	if err != nil {
		return err
	}
	defer in.Close()
	for {
		v, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row, _ := v[0].(int64)
		if row <= *last {
			return errOrder
		}
		*last = row
		*seen++
		if topic, time, ok := r.tables.Place(row, v[1], v[2]); ok {
			visit(row, topic.ID, time)
		}
	}
}

// skipDamage finds the end of a damaged part of the table by doubling steps, then
// by bisection. It returns the number before the first readable row.
func (r *Reader) skipDamage(last int64) (int64, bool) {
	from := max(last, 0)
	step := int64(1)
	for ; !r.readable(from + step); step *= 2 {
		if step > 1<<61 || from+step > 1<<62 {
			return 0, false
		}
	}
	// from+step works, from+step/2 does not (or is where it failed).
	lo, hi := from+step/2, from+step
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; r.readable(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	found := false
	_ = r.db.each(rowsAfter+" LIMIT 1", func(v []driver.Value) {
		row, ok := v[0].(int64)
		hi, found = row-1, ok
	}, hi)
	return hi, found
}

// readable reports whether the first row after the given number, or the end of
// the table, can be read.
func (r *Reader) readable(after int64) bool {
	return r.db.each(rowsAfter+" LIMIT 1", func([]driver.Value) {}, after) == nil
}
