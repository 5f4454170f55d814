package dataset

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// CollectorConfig of a Collector.
type CollectorConfig struct {
	Dt      float64 `param:"dt" default:"0.02" min:"0.001" max:"0.5" unit:"s" read_only:"true" doc:"Δt of the rows: that of the bundles that are to be learned"`
	Seconds float64 `param:"segment_seconds" default:"10.0" min:"1" max:"3600" unit:"s" read_only:"true" doc:"time after which a segment ends, so that it can be learned from; what straddles two segments is lost for learning"`
	MaxRows int     `param:"max_rows" default:"1000000" min:"1000" max:"1e9" unit:"rows" read_only:"true" doc:"rows that the buffer keeps on disk; half are the newest, half balanced over conditions"`
	Guarded float64 `param:"guarded_confidence" default:"0.5" min:"0" max:"1" read_only:"true" doc:"confidence of rows that the guard flew; of those that the policy flew it is 1, less the share of ticks lost"`
	Halved  float64 `param:"halved_at" default:"0.1" min:"0.001" max:"100" unit:"m/s" read_only:"true" doc:"standard deviation σ of a velocity, by its source, that halves a row's confidence: times 1/(1 + (σ/halved_at)²)"`
}

// CollectorOptions of a Collector beside its CollectorConfig.
type CollectorOptions struct {
	Dir      string            // of the buffer
	Finished func(SegmentFile) // called with each segment that ended, one at a time; may be nil
	Now      func() time.Time  // nil is time.Now
	Ticks    <-chan time.Time  // at each, rows go to disk; nil is twice a second
}

// SegmentFile is a finished file of the buffer.
type SegmentFile struct {
	Robot  string // of a fleet; "": the only one
	Dir    string // absolute
	File   string // base name
	Rows   uint64
	SHA256 [32]byte // of the file's bytes
	Stamp  int64    // of the last row, ns; 0 where it is not known
}

// Counts says how a collection is.
type Counts struct {
	StepLosses
	Steps    uint64 // taken
	Dropped  uint64 // steps for which the queue was full
	Rows     int    // in the buffer, on disk
	Segments int    // in the buffer
	Lost     int    // rows that a disk error or a kill cost
	Err      error  // why nothing is written now; nil while all is well
}

// Collector writes the buffer from its own goroutine: Add never waits for the disk. What was added more than a second
// ago is on the disk, whether or not more comes.
type Collector struct {
	cfg     CollectorConfig
	opt     CollectorOptions
	dir     string
	buffer  *Buffer
	steps   chan ControllerStep
	flushes chan chan error
	end     chan struct{}
	done    chan struct{}

	mu     sync.Mutex
	counts Counts

	// Of the goroutine.
	gather    *gatherer
	appender  *Appender
	flight    string              // of the appender
	rows      int                 // of the segment at hand
	announced map[string][32]byte // digests by name
	retry     time.Time           // after an error
	skipped   int                 // rows, until then
}

const (
	queue = 4000 // for steps: ten seconds at 400 Hz
	most  = 100  // segments announced at the start: those that the topic keeps
)

// OpenCollector opens the buffer, which no other process may write to, and announces the segments that are there:
// also of those that a killed process left.
func OpenCollector(cfg CollectorConfig, opt CollectorOptions) (*Collector, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return nil, err
	}
	b, err := Open(dir, Options{MaxRows: cfg.MaxRows, Delta: cfg.Dt, Clock: opt.Now})
	if err != nil {
		return nil, err
	}
	c := &Collector{cfg: cfg, opt: opt, dir: dir, buffer: b, gather: newGatherer(&cfg),
		announced: map[string][32]byte{},
		steps:     make(chan ControllerStep, queue), flushes: make(chan chan error), end: make(chan struct{}),
		done: make(chan struct{})}
	if err := c.pass(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if err := c.announce(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	c.publish()
	ticks, stop := opt.Ticks, func() {}
	if ticks == nil {
		t := time.NewTicker(time.Second / 2)
		ticks, stop = t.C, t.Stop
	}
	go func() {
		defer close(c.done)
		defer stop()
		c.run(ticks)
	}()
	return c, nil
}

// pass leaves out of the announcements what is more than the topic keeps: the conditions of before are among those.
func (c *Collector) pass() error {
	chosen, err := c.buffer.choose(most)
	if err != nil {
		return err
	}
	for _, f := range c.buffer.Files() {
		if !slices.Contains(chosen, f) {
			c.announced[f.Name] = f.Digest
		}
	}
	return nil
}

// Losses are those of the damaged files that were there at the opening, and of those since.
func (c *Collector) Losses() []Loss { return c.buffer.Losses() }

// Add takes a step. It returns false where the queue was full.
func (c *Collector) Add(s ControllerStep) bool {
	c.mu.Lock()
	c.counts.Steps++
	c.mu.Unlock()
	select {
	case c.steps <- s:
		return true
	default:
	}
	c.mu.Lock()
	c.counts.Dropped++
	c.mu.Unlock()
	return false
}

// Flush brings all that was added to disk, ends the segment and announces it.
func (c *Collector) Flush() error {
	answer := make(chan error, 1)
	select {
	case c.flushes <- answer:
		return <-answer
	case <-c.done:
		return fmt.Errorf("buffer %s: closed", c.dir)
	}
}

// Counts so far.
func (c *Collector) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// Close ends the segment, announces it and lets others write to the buffer. Nothing may be added any more.
func (c *Collector) Close() error {
	close(c.end)
	<-c.done
	return errors.Join(c.Counts().Err, c.buffer.Close())
}

func (c *Collector) run(ticks <-chan time.Time) {
	for {
		select {
		case s := <-c.steps:
			c.step(s)
		case <-ticks:
			c.sync()
		case answer := <-c.flushes:
			answer <- c.finish()
		case <-c.end:
			_ = c.finish() // it stays in Counts
			return
		}
	}
}

// finish takes what waits and ends the segment.
func (c *Collector) finish() error {
	for len(c.steps) > 0 {
		c.step(<-c.steps)
	}
	if r, ok := c.gather.finish(); ok {
		c.append(r)
	}
	c.cut()
	c.publish()
	return c.Counts().Err
}

func (c *Collector) step(s ControllerStep) {
	if r, ok := c.gather.add(s); ok {
		c.append(r)
	}
}

// append brings a row to the buffer, in a segment of its flight.
func (c *Collector) append(r flightRow) {
	if c.appender != nil && (c.flight != r.Flight || float64(c.rows) >= c.cfg.Seconds/c.cfg.Dt) {
		c.cut()
		c.publish()
	}
	if c.appender == nil {
		if c.opt.Now().Before(c.retry) {
			c.skipped++
			return
		}
		a, err := c.buffer.Grow(r.Flight)
		if err != nil {
			c.skipped++
			c.fail(err)
			return
		}
		c.appender, c.flight, c.rows = a, r.Flight, 0
	}
	if err := c.appender.Append(r.WeightedRow); err != nil {
		c.fail(err)
		return
	}
	c.rows++
	c.well()
}

// cut ends the segment at hand.
func (c *Collector) cut() {
	if c.appender == nil {
		return
	}
	a := c.appender
	c.appender = nil
	if err := a.Close(); err != nil {
		c.fail(err)
	}
}

// sync brings the rows so far to disk.
func (c *Collector) sync() {
	if c.appender != nil {
		if err := c.appender.Flush(); err != nil {
			c.fail(err)
		}
	}
	c.publish()
}

// fail notes an error, which ended the appender. A disk that is full may have space again in a second.
func (c *Collector) fail(err error) {
	if c.appender != nil {
		_ = c.appender.Close() // says the same
	}
	c.appender, c.retry = nil, c.opt.Now().Add(time.Second)
	c.mu.Lock()
	c.counts.Err = err
	c.mu.Unlock()
}

func (c *Collector) well() {
	c.mu.Lock()
	c.counts.Err = nil
	c.mu.Unlock()
}

// publish announces what has ended and brings the counts up to date.
func (c *Collector) publish() {
	if err := c.announce(); err != nil {
		c.fail(err)
	}
	files, lost := c.buffer.Files(), c.skipped
	for _, l := range c.buffer.Losses() {
		lost += l.Rows
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.StepLosses, c.counts.Rows, c.counts.Segments, c.counts.Lost = c.gather.losses, c.buffer.Rows(), len(files),
		lost
}

// announce reports segments that ended since the last call, and of those that gave rows up for newer ones: they are
// other files now.
func (c *Collector) announce() error {
	files := c.buffer.Files()
	c.forget(files)
	for _, f := range files {
		if f.Growing || c.announced[f.Name] == f.Digest {
			continue
		}
		c.announced[f.Name] = f.Digest
		if c.opt.Finished == nil {
			continue
		}
		s, err := c.describe(f)
		if errors.Is(err, os.ErrNotExist) {
			continue // evicted
		}
		if err != nil {
			return err
		}
		c.opt.Finished(s)
	}
	return nil
}

// forget forgets what was announced of files that are no more, once these are the larger part.
func (c *Collector) forget(files []File) {
	if len(c.announced) <= 2*len(files)+most {
		return
	}
	there := make(map[string]bool, len(files))
	for _, f := range files {
		there[f.Name] = true
	}
	maps.DeleteFunc(c.announced, func(name string, _ [32]byte) bool { return !there[name] })
}

func (c *Collector) describe(f File) (SegmentFile, error) {
	s := SegmentFile{Dir: c.dir, File: f.Name, Rows: uint64(f.Rows)}
	path := filepath.Join(c.dir, f.Name)
	var err error
	if s.SHA256, err = FileSHA256(path); err != nil {
		return s, err
	}
	begun, ok := FlightStart(f.Flight)
	if !ok {
		return s, nil
	}
	rows, _, err := ReadFile(path, c.cfg.Dt)
	if err != nil || len(rows.Rows) == 0 {
		return s, err
	}
	s.Stamp = begun + int64(rows.Rows[len(rows.Rows)-1].T*1e9)
	return s, nil
}

// FileSHA256 is the SHA-256 of a file's bytes.
func FileSHA256(path string) (sum [32]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [32]byte(h.Sum(nil)), nil
}
