// Package recording records bag after bag into one folder, split by size and time. It ends a bag before the disk is
// full,
// and recovers the bag of a killed recording. The node transition_recorder uses it.
package recording

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/ros2/bag"
)

// Config holds the parameters of a Recording.
type Config struct {
	Storage     string  `param:"storage" default:"mcap" enum:"mcap,sqlite3" read_only:"true" doc:"storage of the bags"`
	Compression string  `param:"compression" default:"zstd" enum:"zstd,lz4,none" read_only:"true" doc:"compression of an MCAP bag's chunks"`
	Size        int     `param:"max_file_size" default:"1024" min:"0" max:"1048576" unit:"MiB" read_only:"true" doc:"a new file begins at this size; 0: never"`
	Duration    float64 `param:"max_file_duration" default:"600.0" min:"0" max:"1e6" unit:"s" read_only:"true" doc:"a new file begins after this time; 0: never"`
	LeastFree   int     `param:"least_free" default:"2048" min:"0" max:"1e9" unit:"MiB" doc:"the bag ends when the disk has less free space; the buffer continues"`
	Queue       int     `param:"queue" default:"32" min:"1" max:"4096" unit:"MiB" read_only:"true" doc:"messages waiting for the disk; as many are being written"`
}

// Options of a Recording that are no parameters.
type Options struct {
	Dir    string                           // folder of the bags
	Distro string                           // the ROS distribution that records
	Now    func() time.Time                 // nil is time.Now
	Free   func(dir string) (uint64, error) // free bytes; nil asks the file system
}

// Status is the state of a recording.
type Status struct {
	Bag     string // folder of the current bag; empty without one
	Reason  string // why there is no bag
	Free    uint64 // bytes on the disk, as of the last Watch
	Bags    int    // ended without an error since the start
	Written uint64 // messages, in all bags since the start
	Lost    uint64 // messages lost by disk errors
	Dropped map[string]uint64
	Queued  int // bytes
	Files   int // of the current bag
	Bytes   int64
}

// Recording is safe for concurrent use.
type Recording struct {
	opt    Options
	unlock func()
	found  []string // folders that existed at the start

	change sync.Mutex // held while a bag begins or ends

	mu       sync.RWMutex
	cfg      Config
	recorder *bag.Recorder // nil while there is no bag
	topics   map[string]bag.Topic
	order    []string
	latched  map[string]*bag.Message // the newest message of each transient local topic
	status   Status
}

// Open locks a folder for bags against other processes. It does not begin a bag.
func Open(cfg Config, opt Options) (*Recording, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Free == nil {
		opt.Free = free
	}
	if err := os.MkdirAll(opt.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("bags: %w", err)
	}
	unlock, err := atomicfile.Lock(filepath.Join(opt.Dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("bags in %s: %w", opt.Dir, err)
	}
	r := &Recording{
		opt: opt, unlock: unlock, cfg: cfg, topics: map[string]bag.Topic{}, latched: map[string]*bag.Message{},
		status: Status{Reason: "not started", Dropped: map[string]uint64{}},
	}
	if err := errors.Join(r.undoRecovery(), r.list()); err != nil {
		unlock()
		return nil, err
	}
	return r, nil
}

func free(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("%s: %w", dir, err)
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}

// SetLeastFree changes the least free space, in MiB.
func (r *Recording) SetLeastFree(leastFree int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cfg.LeastFree = leastFree
}

// AddTopic adds a topic to the current bag and the later ones. Every bag begins with the newest message of each
// transient local topic.
func (r *Recording) AddTopic(t bag.Topic) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.topics[t.Name]; ok && known.Type != t.Type {
		return fmt.Errorf("topic %s is recorded as %s, and cannot be recorded as %s too", t.Name, known.Type, t.Type)
	} else if !ok {
		r.order = append(r.order, t.Name)
	}
	r.topics[t.Name] = t
	if r.recorder != nil {
		return r.recorder.AddTopic(t)
	}
	return nil
}

// Start begins a bag, unless there is one.
func (r *Recording) Start() error {
	r.change.Lock()
	defer r.change.Unlock()
	if r.Status().Bag != "" {
		return nil
	}
	dir, w, err := r.create()
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.status.Reason = err.Error()
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := bag.NewRecorder(w, r.cfg.Queue<<20, nil)
	for _, name := range r.order {
		if err := rec.AddTopic(r.topics[name]); err != nil {
			return errors.Join(err, rec.Close())
		}
	}
	now := r.opt.Now().UnixNano()
	for _, name := range r.order {
		if m := r.latched[name]; m != nil {
			first := *m
			first.LogTime = now
			rec.Write(&first)
		}
	}
	r.recorder, r.status.Bag, r.status.Reason = rec, dir, ""
	return nil
}

// create creates a bag, named after the time as ros2 bag does.
func (r *Recording) create() (dir string, w *bag.Writer, err error) {
	if err := r.checkSpace(); err != nil {
		return "", nil, err
	}
	r.mu.RLock()
	c := r.cfg
	r.mu.RUnlock()
	o := bag.WriterOptions{
		Storage: c.Storage, Compression: c.Compression, Distro: r.opt.Distro, Now: r.opt.Now,
		MaxFileSize: int64(c.Size) << 20, MaxFileDuration: time.Duration(c.Duration * float64(time.Second)),
	}
	if c.Storage == bag.SQLite {
		o.Compression = ""
	}
	base := filepath.Join(r.opt.Dir, "rosbag2_"+r.opt.Now().Format("2006_01_02-15_04_05"))
	for n := 0; ; n++ {
		if dir = base; n > 0 {
			dir = fmt.Sprintf("%s_%d", base, n)
		}
		if _, err := os.Lstat(dir); err == nil {
			continue
		}
		w, err = bag.Create(dir, o)
		return dir, w, err
	}
}

// checkSpace fails when the disk has less than the least free space.
func (r *Recording) checkSpace() error {
	n, err := r.opt.Free(r.opt.Dir)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Free = n
	if least := uint64(r.cfg.LeastFree) << 20; n < least {
		return fmt.Errorf("%s: %d MiB are free on the disk, parameter least_free asks for %d", r.opt.Dir, n>>20,
			least>>20)
	}
	return nil
}

// Write puts a message, with a copy of its data, into the bag's queue, if there is a bag. It never waits for the disk.
func (r *Recording) Write(m *bag.Message) {
	r.mu.RLock()
	t, ok := r.topics[m.Topic]
	if r.recorder != nil {
		r.recorder.Write(m)
	}
	r.mu.RUnlock()
	if !ok || !isTransientLocal(t) {
		return
	}
	kept := *m
	kept.Data = append([]byte(nil), m.Data...)
	r.mu.Lock()
	r.latched[m.Topic] = &kept
	r.mu.Unlock()
}

func isTransientLocal(t bag.Topic) bool {
	return slices.ContainsFunc(t.QoS, func(q bag.QoS) bool { return q.Durability == "transient_local" })
}

// Watch ends the bag, and returns the reason as an error, when the disk has failed or has too little space. Call it
// about once a second.
func (r *Recording) Watch() error {
	err := r.checkSpace()
	r.mu.RLock()
	rec := r.recorder
	r.mu.RUnlock()
	if rec == nil {
		return nil
	}
	if failed := rec.Stats().Err; failed != nil {
		err = failed
	}
	if err == nil {
		return nil
	}
	r.change.Lock()
	defer r.change.Unlock()
	return errors.Join(err, r.end(err.Error()))
}

// Stop writes the queue and ends the bag, if there is one.
func (r *Recording) Stop() error {
	r.change.Lock()
	defer r.change.Unlock()
	return r.end("stopped")
}

// end finishes the bag.
func (r *Recording) end(reason string) error {
	r.mu.Lock()
	rec := r.recorder
	r.recorder = nil
	r.mu.Unlock()
	if rec == nil {
		return nil
	}
	err := rec.Close()
	s := rec.Stats()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.add(&s)
	r.status.Bag, r.status.Reason = "", reason
	if err == nil {
		r.status.Bags++
	}
	return err
}

// add adds a bag's counts.
func (s *Status) add(b *bag.Stats) {
	s.Written += b.Written
	s.Lost += b.Lost
	for topic, n := range b.Dropped {
		s.Dropped[topic] += n
	}
}

// Status returns the current state.
func (r *Recording) Status() Status {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := r.status
	s.Dropped = maps.Clone(r.status.Dropped)
	if r.recorder != nil {
		b := r.recorder.Stats()
		s.add(&b)
		s.Queued, s.Files, s.Bytes = b.Queued, b.Files, b.Bytes
	}
	return s
}

// Close ends the bag and unlocks the folder.
func (r *Recording) Close() error {
	err := r.Stop()
	r.unlock()
	return err
}
