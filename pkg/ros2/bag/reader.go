package bag

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vnd/pkg/ros2/bag/metadata"
)

// liveFor is how long after its last write an unfinished recording counts as
// live. rosbag2 writes nothing until a chunk of 768 KiB is full.
const liveFor = 30 * time.Second

// Reader reads one bag. It is not safe for concurrent use.
type Reader struct {
	path    string
	meta    *metadata.Metadata
	files   []*file
	summary Summary
	lost    Loss // except that of the storage files
	bad     map[badMessage]bool
	closed  bool
}

// badMessage identifies a message counted in lost, so that it is counted once.
type badMessage struct {
	file  *file
	topic string
	time  int64
}

// file is one storage file of the bag.
type file struct {
	File
	storage
	temp     string // folder of the decompressed copy
	kind     string // MCAP or SQLite
	modified time.Time
	wal      bool // it has an SQLite write-ahead log
}

// Open opens a bag by its folder, its metadata.yaml or a single storage file. It
// fails when nothing can be read at all. Anything else that is missing or damaged
// is in Lost and in Info's Warnings.
func Open(path string) (*Reader, error) { return open(path, time.Now) }

func open(path string, now func() time.Time) (*Reader, error) {
	path = Root(path)
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("bag %s: %w", path, errors.Unwrap(err))
	}
	r := &Reader{path: path, summary: Summary{Path: path}, bad: map[badMessage]bool{}}
	dir, names := filepath.Dir(path), []string{filepath.Base(path)}
	var unlisted map[string]bool
	if st.IsDir() {
		dir = path
		if r.meta, err = readMetadata(path); err != nil {
			r.summary.warn("metadata.yaml cannot be used, the storage files are read instead: %v", err)
		} else if r.meta == nil {
			r.summary.warn("no metadata.yaml: the storage files are read instead")
		}
		if names, unlisted, err = r.listed(path); err != nil {
			return nil, fmt.Errorf("bag %s: %w", path, err)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("bag %s: no .mcap or .db3 file in this folder", path)
		}
	}
	if err := r.openFiles(dir, names); err != nil {
		r.Close()
		return nil, fmt.Errorf("bag %s: %w", path, err)
	}
	if err := r.count(len(unlisted) > 0); err != nil {
		r.Close()
		return nil, fmt.Errorf("bag %s: %w", path, err)
	}
	r.summarize(len(unlisted) > 0)
	r.checkLive(st.IsDir(), unlisted, now())
	return r, nil
}

// openFiles opens the storage files; at least one must be readable.
func (r *Reader) openFiles(dir string, names []string) error {
	var first error
	for _, name := range names {
		f, err := r.openFile(dir, name)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			if first == nil {
				first = err
			}
			r.summary.warn("%v", err)
			r.lost.Chunks++
			r.lost.Note("%v", err)
			continue
		}
		r.files = append(r.files, f)
	}
	if len(r.files) == 0 {
		if r.meta != nil && r.meta.Storage != MCAP && r.meta.Storage != SQLite {
			return fmt.Errorf("storage %q is not known (known: %s, %s)", r.meta.Storage, MCAP, SQLite)
		}
		return first
	}
	return nil
}

func (r *Reader) openFile(dir, name string) (*file, error) {
	path := filepath.Join(dir, name)
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	f := &file{File: File{Name: name, Size: st.Size()}, modified: st.ModTime()}
	if wal, err := os.Stat(path + "-wal"); err == nil {
		f.Size += wal.Size()
		f.wal = wal.Size() > 0
		if wal.ModTime().After(f.modified) {
			f.modified = wal.ModTime()
		}
	}
	if err := r.openStorage(f, path); err != nil {
		os.RemoveAll(f.temp)
		return nil, err
	}
	return f, nil
}

// openStorage opens a file by its content, whatever its name.
func (r *Reader) openStorage(f *file, path string) error {
	kind, err := storageOf(path)
	if err == nil && kind == "zstd" {
		r.summary.Compression = "zstd by file"
		if path, err = r.inflateFile(f, path); err == nil {
			kind, err = storageOf(path)
		}
	}
	if err != nil {
		return err
	}
	f.kind = kind
	switch kind {
	case MCAP:
		f.storage, err = openMCAP(path)
	case SQLite:
		f.storage, err = openSQLite(path)
	default:
		err = errors.New("compressed twice")
	}
	return err
}

func (r *Reader) inflateFile(f *file, path string) (string, error) {
	plain, dir, err := inflate(path)
	if dir == "" {
		return "", err
	}
	f.temp = dir
	if err != nil {
		r.lost.Truncated = true
		r.lost.Note("%s: %v", f.Name, err)
	}
	return plain, nil
}

// count finds how many messages each file has. SQLite files have to be read for
// that, except where metadata.yaml lists all files.
func (r *Reader) count(unlisted bool) error {
	trusted := r.meta != nil && !unlisted && len(r.files) == len(r.meta.Paths)
	for _, f := range r.files {
		if f.fromMetadata(r.meta, trusted) {
			continue
		}
		start, end, n, ok := f.span()
		if !ok {
			if err := f.count(); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			start, end, n, _ = f.span()
		}
		f.Start, f.End, f.Messages = start, end, n
	}
	return nil
}

// fromMetadata takes a file's count from metadata.yaml. It returns false when the
// file has its own count, or metadata.yaml cannot be trusted.
func (f *file) fromMetadata(m *metadata.Metadata, trusted bool) bool {
	if _, _, _, ok := f.span(); ok || !trusted {
		return false
	}
	if lost := f.Loss(); lost.Any() {
		return false
	}
	if len(m.Paths) == 1 {
		f.setSpan(m.Start, m.Duration, m.Messages)
		return true
	}
	for _, in := range m.Files {
		if strings.TrimSuffix(filepath.Base(in.Path), zstdEnd) == strings.TrimSuffix(f.Name, zstdEnd) {
			f.setSpan(in.Start, in.Duration, in.Messages)
			return true
		}
	}
	return false
}

func (f *file) setSpan(start metadata.Time, d metadata.Span, messages uint64) {
	f.Start, f.End, f.Messages = int64(start), int64(start)+int64(d), messages
}

// summarize adds up what the files and metadata.yaml say.
func (r *Reader) summarize(unlisted bool) {
	s := &r.summary
	counted := true
	for _, f := range r.files {
		s.Files = append(s.Files, f.File)
		s.Size += f.Size
		if f.Messages > 0 {
			if s.Messages == 0 {
				s.Start, s.End = f.Start, f.End
			}
			s.Start, s.End = min(s.Start, f.Start), max(s.End, f.End)
			s.Messages += f.Messages
		}
		_, _, _, ok := f.span()
		counted = counted && ok
		for _, t := range f.topics() {
			s.addTopic(t)
		}
		if e := f.embedded(); e != nil {
			s.Distro = e.Distro
			s.Custom = e.Custom
		}
	}
	s.Storage = r.files[0].kind
	if r.meta != nil {
		r.useMetadata(counted, unlisted)
	}
	for k, v := range s.Custom {
		topic, ok := strings.CutPrefix(k, droppedKey)
		var n uint64
		if _, err := fmt.Sscan(v, &n); ok && err == nil {
			if s.Dropped == nil {
				s.Dropped = map[string]uint64{}
			}
			s.Dropped[topic] = n
		}
	}
	if s.Messages == 0 {
		s.warn("the bag is empty: no messages")
	}
}

// addTopic merges the same topic of several files, or of several publishers.
func (s *Summary) addTopic(t Topic) *Topic {
	i := slices.IndexFunc(s.Topics, func(o Topic) bool { return o.Name == t.Name && o.Type == t.Type })
	if i < 0 {
		s.Topics = append(s.Topics, t)
		return &s.Topics[len(s.Topics)-1]
	}
	o := &s.Topics[i]
	o.Count += t.Count
	if o.Definition == "" {
		o.Definition, o.DefinitionEncoding = t.Definition, t.DefinitionEncoding
	}
	if o.TypeHash == "" {
		o.TypeHash = t.TypeHash
	}
	if len(o.QoS) == 0 {
		o.QoS = t.QoS
	}
	return o
}

// useMetadata adds what only metadata.yaml has, and warns where it differs from
// the files.
func (r *Reader) useMetadata(counted, unlisted bool) {
	s, m := &r.summary, r.meta
	s.MetadataVersion = m.Version
	if m.Distro != "" {
		s.Distro = m.Distro
	}
	if m.Custom != nil {
		s.Custom = m.Custom
	}
	if strings.EqualFold(m.CompressionMode, "message") {
		s.Compression = m.CompressionFormat + " by message"
	}
	switch {
	case m.Storage != MCAP && m.Storage != SQLite:
		s.warn("metadata.yaml names the unknown storage %q, the files are %s", m.Storage, s.Storage)
	case m.Storage != s.Storage:
		s.warn("metadata.yaml says storage %q, but the files are %s", m.Storage, s.Storage)
	}
	for _, t := range m.Topics {
		o := s.addTopic(Topic{Name: t.Type.Name, Type: t.Type.Type, Encoding: t.Type.Format, TypeHash: t.Type.TypeHash,
			QoS: t.Type.QoS})
		if !counted {
			o.Count = t.Messages
		}
	}
	if counted && !unlisted && m.Messages != s.Messages {
		s.warn("metadata.yaml counts %d messages, the files hold %d", m.Messages, s.Messages)
	}
}

// checkLive detects a recording in progress. Its last file was written to just
// now and is unfinished. An unfinished MCAP file has no end mark; an unfinished
// SQLite file has a log, or is not listed in metadata.yaml.
func (r *Reader) checkLive(folder bool, unlisted map[string]bool, now time.Time) {
	f := r.files[len(r.files)-1]
	lost := f.Loss()
	open := lost.Truncated
	if f.kind == SQLite {
		open = open || unlisted[f.Name] || folder && r.meta == nil || f.wal
	}
	if age := now.Sub(f.modified); open && age < liveFor {
		r.summary.Live = true
		r.summary.warn("this bag seems to be written right now (%s changed %.0f s ago): only what is there is read",
			f.Name, max(age.Seconds(), 0))
	}
}

// Topics lists the topics, in the order of the storage files.
func (r *Reader) Topics() []Topic { return r.summary.Topics }

// Info describes the bag as far as it is known.
func (r *Reader) Info() Summary {
	s := r.summary
	s.Lost = r.Lost()
	return s
}

// Lost counts what was missing or damaged at opening and in what was read since.
func (r *Reader) Lost() Loss {
	var sum Loss
	sum.Add(r.lost, "")
	for _, f := range r.files {
		sum.Add(f.Loss(), f.Name+": ")
	}
	return sum
}

// Close closes the storage files and removes temporary copies.
func (r *Reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	var errs []error
	for _, f := range r.files {
		errs = append(errs, f.close())
		if f.temp != "" {
			errs = append(errs, os.RemoveAll(f.temp))
		}
	}
	return errors.Join(errs...)
}
