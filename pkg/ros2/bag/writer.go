package bag

import (
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

// WriterOptions say how a bag is written. The zero value is an MCAP bag with
// zstd chunks in one file, metadata version 8, flushed twice a second.
type WriterOptions struct {
	Storage     string // MCAP (default) or SQLite
	Compression string // of MCAP chunks: "zstd" (default), "lz4", "none"
	// MetadataVersion is 8 (default) or 5, the newest that Humble reads.
	MetadataVersion int
	Distro          string // the ROS distribution that records
	// A new file begins when one has MaxFileSize bytes, or spans
	// MaxFileDuration of log time. 0: never.
	MaxFileSize     int64
	MaxFileDuration time.Duration
	// FlushEvery is how old a message may get before it is on the disk,
	// 500 ms by default.
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
		return fmt.Errorf("metadata version %d is not written (%d and %d are)", o.MetadataVersion, metadata.Humble, metadata.Current)
	}
	if o.FlushEvery <= 0 {
		o.FlushEvery = 500 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// Writer writes a bag. What it wrote more than FlushEvery ago survives a kill
// or a power loss, provided Write or Tick is called about as often; metadata.yaml
// is written anew at each split and at Close. It is not safe for concurrent use.
//
// After an error of the disk nothing more is written; what was flushed before
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
	made   bool  // the folder was not there before
	closed bool
}

// Create makes a bag's folder and its first file. The folder must not exist,
// or be empty.
func Create(dir string, o WriterOptions) (*Writer, error) {
	w := &Writer{dir: filepath.Clean(dir), opts: o, index: map[string]int{}}
	if err := w.opts.setDefaults(); err != nil {
		return nil, fmt.Errorf("bag %s: %w", dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("bag %s: the folder is there already, with %d files in it", dir, len(entries))
	}
	w.made = err != nil
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("bag %s: %w", dir, err)
	}
	w.meta = metadata.Metadata{Version: w.opts.MetadataVersion, Storage: w.opts.Storage, Distro: w.opts.Distro, Custom: map[string]string{}}
	if err := w.open(); err != nil {
		err = w.fail(err)
		w.discard()
		return nil, err
	}
	return w, nil
}

// open starts the next file, with all topics so far.
func (w *Writer) open() error {
	stem := fmt.Sprintf("%s_%d", filepath.Base(w.dir), len(w.meta.Files))
	w.name = stem + w.opts.fileEnd()
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

// fail keeps the first error, with the file it is about.
func (w *Writer) fail(err error) error {
	if pe := (*os.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err // the path is said already
	}
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("bag %s: writing %s: %w", w.dir, w.name, err)
	}
	return w.err
}

// AddTopic adds a topic; its messages may be written from then on. Encoding is
// "cdr" when empty, DefinitionEncoding "ros2msg" when there is a definition.
func (w *Writer) AddTopic(t Topic) error {
	if w.err != nil {
		return w.err
	}
	if i, ok := w.index[t.Name]; ok {
		if w.topics[i].Type == t.Type {
			return nil
		}
		return fmt.Errorf("bag %s: topic %s has the type %s already, and cannot have %s", w.dir, t.Name, w.topics[i].Type, t.Type)
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

// SetCustom notes a value in the bag's metadata (kept from version 6 on).
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
		return fmt.Errorf("bag %s: %s: a time before 1970 (log %d ns, publish %d ns)", w.dir, m.Topic, m.LogTime, m.PublishTime)
	}
	if err := w.splitBefore(m); err != nil {
		return err
	}
	if w.empty {
		w.start, w.empty = m.LogTime, false
	}
	before := w.out.pending()
	if before == 0 {
		w.oldest = w.opts.Now()
	}
	if err := w.out.write(i, m); err != nil {
		w.lost += uint64(before) + 1
		return w.fail(err)
	}
	if w.out.pending() == 0 {
		return nil // a full chunk was written
	}
	return w.Tick()
}

// Tick flushes what is older than FlushEvery. Call it when no messages come.
func (w *Writer) Tick() error {
	if w.err == nil && w.out.pending() > 0 && w.opts.Now().Sub(w.oldest) >= w.opts.FlushEvery {
		return w.Flush()
	}
	return w.err
}

// Flush brings all messages so far to the disk.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	pending := w.out.pending()
	if err := w.out.flush(); err != nil {
		w.lost += uint64(pending)
		return w.fail(err)
	}
	return nil
}

func (w *Writer) splitBefore(m *Message) error {
	o := &w.opts
	if w.empty {
		return nil
	}
	if o.MaxFileSize > 0 && w.out.size() >= o.MaxFileSize ||
		o.MaxFileDuration > 0 && m.LogTime-w.start >= int64(o.MaxFileDuration) {
		return w.Split()
	}
	return nil
}

// Split finishes the file at hand and begins a new one.
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

// finish closes the file at hand and books what it holds.
func (w *Writer) finish() error {
	if w.out == nil {
		return nil
	}
	whole := w.meta
	whole.Topics = nil // they stand in the file itself
	first := w.out.addMetadata(&whole)
	if first == nil {
		first = w.out.flush()
	}
	err := w.out.close()
	start, end, n := w.out.span()
	m := &w.meta
	if n > 0 {
		last := m.Start + m.Duration
		if m.Messages == 0 {
			m.Start, last = start, end
		}
		m.Start, last = min(m.Start, start), max(last, end)
		m.Duration = last - m.Start
		m.Messages += n
	}
	m.Paths = append(m.Paths, w.name)
	m.Files = append(m.Files, metadata.File{Path: w.name, Start: start, Duration: end - start, Messages: n})
	for i := range w.topics {
		w.topics[i].Count += w.out.count(i)
	}
	if st, err := os.Stat(filepath.Join(w.dir, w.name)); err == nil {
		w.size += st.Size()
	}
	w.out = nil
	if first != nil {
		return first
	}
	return err
}

// writeMetadata puts a new metadata.yaml in the place of the old one.
func (w *Writer) writeMetadata() error {
	w.meta.Topics = w.meta.Topics[:0]
	for _, t := range w.topics {
		w.meta.Topics = append(w.meta.Topics, metadata.Topic{
			Name: t.Name, Type: t.Type, Format: t.Encoding, QoS: t.QoS, TypeHash: t.TypeHash, Messages: t.Count,
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

// Close finishes the bag. After a disk error it completes what was written
// before, and returns that error with the number of messages it cost.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	w.closed = true
	err := w.Flush()
	if ferr := w.finish(); err == nil {
		err = w.fail(ferr)
	}
	if merr := w.writeMetadata(); err == nil {
		err = w.fail(merr)
	}
	if err != nil && w.lost > 0 {
		err = fmt.Errorf("%w (%d messages lost, %d are in the bag)", err, w.lost, w.meta.Messages)
		w.err = err
	}
	return err
}

// Finish closes a bag that is wanted whole or not at all: where err, which led
// here, or closing fails, nothing of it stays.
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

// discard removes the bag. What cannot be removed stays: the error that led
// here says more.
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

// Stats is how far a recording is.
type Stats struct {
	Written uint64            // messages taken by the bag
	Lost    uint64            // messages that a disk error cost
	Dropped map[string]uint64 // messages that did not fit the queue, by topic
	Queued  int               // bytes waiting
	Bytes   int64             // of all files
	Files   int
	Err     error // what ended the recording
}

// Stats tells what was written so far.
func (w *Writer) Stats() Stats {
	s := Stats{Lost: w.lost, Bytes: w.size, Files: len(w.meta.Files), Err: w.err, Written: w.meta.Messages}
	if w.out != nil {
		_, _, n := w.out.span()
		s.Written += n
		if w.err == nil {
			s.Written += uint64(w.out.pending())
		}
		s.Bytes += w.out.size()
		s.Files++
	}
	return s
}
