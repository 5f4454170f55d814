package bag

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/ros2/bag/metadata"
)

// WriterOptions of a bag. The zero value is an MCAP bag with zstd chunks in one
// file, metadata version 8, flushed twice a second.
type WriterOptions struct {
	Storage     string // MCAP (default) or SQLite
	Compression string // of MCAP chunks: "zstd" (default), "lz4", "none"
	// MetadataVersion is 8 (default) or 5, the newest that Humble reads.
	MetadataVersion int
	Distro          string // the ROS distribution that records
	// A new file begins when one has MaxFileSize bytes, or MaxFileDuration of
	// log time. 0: never.
	MaxFileSize     int64
	MaxFileDuration time.Duration
	// FlushEvery is the age of a message at which Write and Tick flush it to the
	// disk, 500 ms by default.
	FlushEvery time.Duration
	Now        func() time.Time // time.Now by default
}

func (o *WriterOptions) setDefaults() error {
	if o.Storage == "" {
		o.Storage = MCAP
	}
	if o.Storage == SQLite && o.Compression != "" && o.Compression != "none" {
		return fmt.Errorf("compression %q: SQLite bags are written uncompressed (MCAP has zstd and lz4)", o.Compression)
	}
	if o.Storage == MCAP && o.Compression == "" {
		o.Compression = "zstd"
	}
	switch {
	case o.Storage != MCAP && o.Storage != SQLite:
		return fmt.Errorf("storage %q is not known (known: %s, %s)", o.Storage, MCAP, SQLite)
	case o.Storage == MCAP && o.Compression != "zstd" && o.Compression != "lz4" && o.Compression != "none":
		return fmt.Errorf("compression %q is not known (known: zstd, lz4, none)", o.Compression)
	}
	if o.MetadataVersion == 0 {
		o.MetadataVersion = metadata.Current
	}
	if o.MetadataVersion != metadata.Current && o.MetadataVersion != metadata.Humble {
		return fmt.Errorf("metadata version %d is not written (%d and %d are)", o.MetadataVersion, metadata.Humble,
			metadata.Current)
	}
	if o.FlushEvery <= 0 {
		o.FlushEvery = 500 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// Writer writes a bag. Messages older than FlushEvery survive a kill or a power
// loss, if Write or Tick is called about as often. metadata.yaml is replaced at
// each split and at Close. A Writer is not safe for concurrent use.
//
// After an error of the disk no more messages are written. What was flushed before
// stays readable, and Close completes it as far as the disk allows.
type Writer struct {
	dir    string
	opts   WriterOptions
	topics []Topic // with their counts in finished files
	index  map[string]int
	meta   metadata.Metadata
	out    sink
	name   string // of the file being written
	start  int64  // log time of its first message
	empty  bool   // nothing was written to it
	oldest time.Time
	err    error
	lost   uint64
	size   int64 // of finished files
	made   bool  // the folder did not exist before
	closed bool
}

// Create creates a bag's folder and its first file. A folder that exists must be
// empty.
func Create(dir string, o WriterOptions) (*Writer, error) {
	w := &Writer{dir: filepath.Clean(dir), opts: o, index: map[string]int{}}
	if err := w.opts.setDefaults(); err != nil {
		return nil, fmt.Errorf("bag %s: %w", dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("bag %s: the folder exists already, with %d files in it", dir, len(entries))
	}
	w.made = err != nil
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("bag %s: %w", dir, err)
	}
	w.meta = metadata.Metadata{Version: w.opts.MetadataVersion, Storage: w.opts.Storage, Distro: w.opts.Distro,
		Custom: map[string]string{}}
	if err := w.open(); err != nil {
		err = w.fail(err)
		w.discard()
		return nil, err
	}
	return w, nil
}

// open creates the next file, with all topics so far.
func (w *Writer) open() error {
	stem := fmt.Sprintf("%s_%d", filepath.Base(w.dir), len(w.meta.Files))
	w.name = stem + w.opts.extension()
	out, err := w.opts.create(filepath.Join(w.dir, stem))
	if err != nil {
		return err
	}
	w.out, w.empty = out, true
	empty := w.meta
	empty.Start, empty.Duration, empty.Messages, empty.Topics, empty.Paths, empty.Files = 0, 0, 0, nil, nil, nil
	if err := out.addMetadata(&empty); err != nil {
		return err
	}
	for _, t := range w.topics {
		if err := out.addTopic(t); err != nil {
			return err
		}
	}
	if err := out.flush(); err != nil {
		return err
	}
	return atomicfile.SyncDir(w.dir)
}

// fail keeps the first error, with its file's name, and returns it.
func (w *Writer) fail(err error) error {
	if pe := (*os.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err // without its path
	}
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("bag %s: writing %s: %w", w.dir, w.name, err)
	}
	return w.err
}

// AddTopic adds a topic, before its messages are written. Encoding is "cdr" by
// default, DefinitionEncoding "ros2msg" where there is a definition.
func (w *Writer) AddTopic(t Topic) error {
	if w.err != nil {
		return w.err
	}
	if i, ok := w.index[t.Name]; ok {
		if w.topics[i].Type == t.Type {
			return nil
		}
		return errType(w.dir, t, w.topics[i].Type)
	}
	if t.Encoding == "" {
		t.Encoding = "cdr"
	}
	if t.Definition != "" && t.DefinitionEncoding == "" {
		t.DefinitionEncoding = "ros2msg"
	}
	t.Count = 0
	if err := w.out.addTopic(t); err != nil {
		return w.fail(err)
	}
	w.index[t.Name] = len(w.topics)
	w.topics = append(w.topics, t)
	return nil
}

// errType is the error for a topic that has another type already.
func errType(dir string, t Topic, known string) error {
	return fmt.Errorf("bag %s: topic %s has the type %s already, and cannot have %s", dir, t.Name, known, t.Type)
}

// SetCustom sets a value in the bag's custom data; metadata version 5 has none.
func (w *Writer) SetCustom(key, value string) { w.meta.Custom[key] = value }

// Write adds a message; its Type is that of the topic. The data are copied.
func (w *Writer) Write(m *Message) error {
	if w.err != nil {
		w.lost++
		return w.err
	}
	i, ok := w.index[m.Topic]
	switch {
	case !ok:
		return fmt.Errorf("bag %s: topic %s was not added", w.dir, m.Topic)
	case m.LogTime < 0 || m.PublishTime < 0:
		return fmt.Errorf("bag %s: %s: a time before 1970 (log %d ns, publish %d ns)", w.dir, m.Topic, m.LogTime,
			m.PublishTime)
	}
	if w.isFull(m) {
		if err := w.Split(); err != nil {
			return err
		}
	}
	if w.empty {
		w.start, w.empty = m.LogTime, false
	}
	before := w.out.Pending()
	if before == 0 {
		w.oldest = w.opts.Now()
	}
	if err := w.out.write(i, m); err != nil {
		w.lost += uint64(before) + 1
		return w.fail(err)
	}
	if w.out.Pending() == 0 {
		return nil // a full chunk was written
	}
	return w.Tick()
}

// Tick flushes messages older than FlushEvery. Call it when no messages come.
func (w *Writer) Tick() error {
	if w.err == nil && w.out.Pending() > 0 && w.opts.Now().Sub(w.oldest) >= w.opts.FlushEvery {
		return w.Flush()
	}
	return w.err
}

// Flush writes all messages so far to the disk.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	pending := w.out.Pending()
	if err := w.out.flush(); err != nil {
		w.lost += uint64(pending)
		return w.fail(err)
	}
	return nil
}

// isFull reports whether a message begins a new file.
func (w *Writer) isFull(m *Message) bool {
	o := &w.opts
	return !w.empty && (o.MaxFileSize > 0 && w.out.Size() >= o.MaxFileSize ||
		o.MaxFileDuration > 0 && m.LogTime-w.start >= int64(o.MaxFileDuration))
}

// Split finishes the current file and begins a new one.
func (w *Writer) Split() error {
	if w.err != nil {
		return w.err
	}
	if err := w.finish(); err != nil {
		return w.fail(err)
	}
	if err := w.writeMetadata(); err != nil {
		return w.fail(err)
	}
	return w.fail(w.open())
}

// finish closes the current file and adds its counts to the metadata.
func (w *Writer) finish() error {
	if w.out == nil {
		return nil
	}
	whole := w.meta
	whole.Topics = nil // the file has records of its own for them
	first := w.out.addMetadata(&whole)
	if first == nil {
		first = w.out.flush()
	}
	err := w.out.close()
	start, end, n := w.out.span()
	m := &w.meta
	if n > 0 {
		first, last := metadata.Time(start), metadata.Time(end)
		if m.Messages > 0 {
			first, last = min(m.Start, first), max(m.Start+metadata.Time(m.Duration), last)
		}
		m.Start, m.Duration = first, metadata.Span(last-first)
		m.Messages += n
	}
	m.Paths = append(m.Paths, w.name)
	m.Files = append(m.Files, metadata.File{Path: w.name, Start: metadata.Time(start),
		Duration: metadata.Span(end - start), Messages: n})
	for i := range w.topics {
		w.topics[i].Count += w.out.count(i)
	}
	if st, err := os.Stat(filepath.Join(w.dir, w.name)); err == nil {
		w.size += st.Size()
	}
	w.out = nil
	return cmp.Or(first, err)
}

// writeMetadata replaces metadata.yaml.
func (w *Writer) writeMetadata() error {
	w.meta.Topics = w.meta.Topics[:0]
	for _, t := range w.topics {
		w.meta.Topics = append(w.meta.Topics, metadata.Topic{
			Type: metadata.TopicType{Name: t.Name, Type: t.Type, Format: t.Encoding, QoS: t.QoS,
				TypeHash: t.TypeHash},
			Messages: t.Count,
		})
	}
	text, err := w.meta.Encode()
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(w.dir, metadata.FileName), func(out io.Writer) error {
		_, err := out.Write(text)
		return err
	})
}

// Close finishes the bag. After a disk error it completes what was written before,
// and returns that error with the number of lost messages.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	w.closed = true
	_ = w.Flush() // fail keeps the first error
	_ = w.fail(w.finish())
	err := w.fail(w.writeMetadata())
	if err != nil && w.lost > 0 {
		err = fmt.Errorf("%w (%d messages lost, %d are in the bag)", err, w.lost, w.meta.Messages)
		w.err = err
	}
	return err
}

// Finish closes a bag that must be complete. If err is not nil, or closing fails,
// it removes the bag and returns the error.
func (w *Writer) Finish(err error) error {
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		w.discard()
	}
	return err
}

// discard removes the bag. Its own errors are ignored: an earlier one is returned.
func (w *Writer) discard() {
	if w.out != nil {
		_ = w.out.close()
		w.out = nil
	}
	w.closed = true
	files, _ := os.ReadDir(w.dir)
	for _, f := range files {
		if name := f.Name(); name == metadata.FileName || strings.HasPrefix(name, filepath.Base(w.dir)+"_") {
			os.Remove(filepath.Join(w.dir, name))
		}
	}
	if w.made {
		os.Remove(w.dir)
	}
}

// Stats is the state of a recording.
type Stats struct {
	Written uint64            // messages
	Lost    uint64            // messages lost by a disk error
	Dropped map[string]uint64 // messages that did not fit into the queue, by topic
	Queued  int               // bytes in the queue
	Bytes   int64             // of all files
	Files   int
	Err     error // what ended the recording
}

// Stats returns the state of the recording.
func (w *Writer) Stats() Stats {
	s := Stats{Lost: w.lost, Bytes: w.size, Files: len(w.meta.Files), Err: w.err, Written: w.meta.Messages}
	if w.out != nil {
		_, _, n := w.out.span()
		s.Written += n
		if w.err == nil {
			s.Written += uint64(w.out.Pending())
		}
		s.Bytes += w.out.Size()
		s.Files++
	}
	return s
}
