package sqlite

import (
	"bufio"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"

	driverimpl "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"vnd/pkg/ros2/bag/sqlite/wal"
)

// conn is one connection. It uses the driver directly: database/sql would copy
// every message once more and hide the types of the columns.
type conn struct {
	driver.Conn
}

// dial opens a database; query holds SQLite's URI parameters and pragmas.
func dial(path, query string) (*conn, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: abs, RawQuery: query}
	c, err := (&driverimpl.Driver{}).Open(u.String())
	if err != nil {
		return nil, err
	}
	return &conn{c}, nil
}

func numbered(args []any) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

func (c *conn) exec(sql string, args ...any) error {
	_, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), sql, numbered(args))
	return err
}

func (c *conn) query(sql string, args ...any) (*rows, error) {
	r, err := c.Conn.(driver.QueryerContext).QueryContext(context.Background(), sql, numbered(args))
	if err != nil {
		return nil, err
	}
	return &rows{Rows: r, vals: make([]driver.Value, len(r.Columns()))}, nil
}

// each calls visit for every row; the values are int64, float64, string,
// []byte or nil.
func (c *conn) each(sql string, visit func(v []driver.Value), args ...any) error {
	r, err := c.query(sql, args...)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		v, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		visit(v)
	}
}

type rows struct {
	driver.Rows
	vals []driver.Value
}

// next returns the next row's values, or io.EOF.
func (r *rows) next() ([]driver.Value, error) {
	err := r.Rows.Next(r.vals)
	return r.vals, err
}

// code is the primary SQLite code of an error, 0 for other errors.
func code(err error) int {
	if e, ok := errors.AsType[*driverimpl.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// damaged reports whether an error is of the file's content, not of its use.
func damaged(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_NOMEM,
		sqlite3.SQLITE_TOOBIG:
		return true
	}
	return false
}

// readPragmas keep code in a foreign file's schema from running, detect broken
// pages, and wait for a running recorder.
const readPragmas = "&_defensive=1&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)" +
	"&_pragma=query_only(1)&_pragma=busy_timeout(2000)"

// source is how a database was opened for reading.
type source struct {
	*conn
	temp string // folder of a copy, to be removed
	bad  int    // frames of the write-ahead log with wrong checksums
}

// openForReading opens a database without changing it. It reads a killed
// recorder's write-ahead log or journal too. When SQLite cannot do that in place,
// as on a read-only disk, or the log is damaged, it opens a copy in a temporary
// folder.
func openForReading(path string) (source, error) {
	bad, keep := 0, 0
	if st, err := os.Stat(path + "-wal"); err == nil && st.Size() > 0 {
		if bad, keep, err = checkWAL(path + "-wal"); err != nil {
			return source{}, err
		}
	}
	if bad > 0 {
		return openCopy(path, bad, keep)
	}
	c, err := try(path, "mode=ro")
	if err == nil {
		return source{conn: c}, nil
	}
	switch code(err) {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM:
	default:
		return source{}, err
	}
	if len(sidecars(path)) > 0 {
		return openCopy(path, 0, 0)
	}
	c, err = try(path, "mode=ro&immutable=1")
	return source{conn: c}, err
}

// try opens a database and reads its schema: opening alone reads nothing.
func try(path, query string) (*conn, error) {
	c, err := dial(path, query+readPragmas)
	if err != nil {
		return nil, err
	}
	if err := c.each("SELECT count(*) FROM sqlite_master", func([]driver.Value) {}); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// openCopy opens a copy of a database, its log and its journal. Of a damaged log
// it copies the first keep frames.
func openCopy(path string, bad, keep int) (s source, err error) {
	if s.temp, err = os.MkdirTemp("", "vnd-bag-*"); err != nil {
		return s, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(s.temp)
		}
	}()
	for _, from := range append([]string{path}, sidecars(path)...) {
		to := filepath.Join(s.temp, filepath.Base(from))
		if bad > 0 && from == path+"-wal" {
			err = rewrite(to, from, func(out io.Writer, in io.Reader) error { return wal.Repair(out, in, keep) })
		} else {
			err = copyFile(to, from)
		}
		if err != nil {
			return s, err
		}
	}
	s.bad = bad
	s.conn, err = try(filepath.Join(s.temp, filepath.Base(path)), "mode=rw")
	return s, err
}

// sidecars lists the write-ahead log and the rollback journal beside a database,
// unless they are empty. SQLite creates the shared-memory file anew.
func sidecars(path string) []string {
	var out []string
	for _, end := range []string{"-wal", "-journal"} {
		if st, err := os.Stat(path + end); err == nil && st.Size() > 0 {
			out = append(out, path+end)
		}
	}
	return out
}

func checkWAL(path string) (bad, keep int, err error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	return wal.Check(bufio.NewReaderSize(in, 1<<20))
}

func copyFile(to, from string) error {
	return rewrite(to, from, func(out io.Writer, in io.Reader) error {
		_, err := io.Copy(out, in)
		return err
	})
}

func rewrite(to, from string, write func(io.Writer, io.Reader) error) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	return errors.Join(write(w, bufio.NewReaderSize(in, 1<<20)), w.Flush(), out.Close())
}
