// Package logging is the log of a ROS 2 process. Messages of zerolog loggers go to the
// console in rcutils' format, to a file in ROS' log directory, and to /rosout. ros2 tools
// change the levels while the process runs.
//
// Logging never blocks: messages go into a bounded queue. While it is full, messages are
// dropped and counted.
package logging

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// Options of a Log. The zero value is that of a node without arguments.
type Options struct {
	Level    Level // of all loggers; Unset is Info
	Settings []Setting

	NoConsole, NoFile, NoTopic bool

	ConfigFile string // of a log library of ROS; refused unless NoFile
	FileName   string // prefix of the log file's name; "" is the program's name

	// For tests; nil is the process' own.
	Getenv         func(string) string
	Stdout, Stderr io.Writer
	Now            func() int64 // ns since 1970
}

// queueDepth is the most messages in the queue.
const queueDepth = 1024

// Log is the log of a process.
type Log struct {
	o      Options
	levels *Levels
	topics topics

	free    chan *event
	queue   chan *event
	syncs   chan chan struct{}
	dropped atomic.Uint64
	closed  chan struct{}
	close   sync.Once
	done    chan struct{}

	output output
}

// New starts a log. It returns an error of the environment or the log file.
func New(o Options) (*Log, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixNano() }
	}
	e, err := o.environment()
	if err != nil {
		return nil, err
	}
	l := &Log{
		o: o, levels: newLevels(), topics: topics{byName: map[string]*topic{}},
		free: make(chan *event, queueDepth), queue: make(chan *event, queueDepth),
		syncs: make(chan chan struct{}), closed: make(chan struct{}), done: make(chan struct{}),
		output: output{format: e.format, colored: e.colored},
	}
	if !o.NoConsole {
		l.output.console = o.console(e.stdout)
	}
	if !o.NoFile {
		if l.output.file, err = o.open(); err != nil {
			return nil, err
		}
		l.output.buffer = bufio.NewWriter(l.output.file)
	}
	l.levels.Set("", o.Level)
	for _, s := range o.Settings {
		l.levels.Set(s.Logger, s.Level)
	}
	for range queueDepth {
		l.free <- &event{text: make([]byte, 0, usualText)}
	}
	go l.run()
	return l, nil
}

// Levels of the process' loggers.
func (l *Log) Levels() *Levels { return l.levels }

// Logger returns the logger of a name such as "quad.fit". Its level follows Levels. Fields
// are written behind the message as name=value. zerolog's Fatal ends the process;
// WithLevel(zerolog.FatalLevel) logs a FATAL as ROS does.
func (l *Log) Logger(name string) zerolog.Logger {
	t := l.levels.threshold(name)
	return zerolog.New(&named{l, name, t}).Sample(t)
}

// Dropped is the number of messages that were dropped because a queue was full.
func (l *Log) Dropped() uint64 { return l.dropped.Load() }

// File returns the log file's path, "" without one.
func (l *Log) File() string {
	if l.output.file == nil {
		return ""
	}
	return l.output.file.Name()
}

// Sync waits until earlier messages are on the console, in the file and in the queues of
// /rosout.
func (l *Log) Sync() {
	answer := make(chan struct{})
	select {
	case l.syncs <- answer:
		<-answer
	case <-l.done:
	}
}

// Close writes the queued messages and ends the log; later messages are dropped. Publishers
// of /rosout must have been stopped before.
func (l *Log) Close() error {
	l.close.Do(func() { close(l.closed) })
	<-l.done
	return l.output.err
}

// named is the zerolog.LevelWriter of one logger.
type named struct {
	log       *Log
	name      string
	threshold *threshold
}

// Write implements io.Writer.
func (n *named) Write(p []byte) (int, error) { return n.WriteLevel(zerolog.NoLevel, p) }

// WriteLevel implements zerolog.LevelWriter and never blocks.
func (n *named) WriteLevel(level zerolog.Level, p []byte) (int, error) {
	if !n.threshold.Sample(level) { // zerolog.DisableSampling does not call Sample
		return len(p), nil
	}
	select {
	case <-n.log.closed:
		n.log.dropped.Add(1)
		return len(p), nil
	default:
	}
	select {
	case e := <-n.log.free:
		e.capture(n.log.o.Now(), levelOf(level), n.name, p)
		n.log.queue <- e // never blocks: it holds all events
	default:
		n.log.dropped.Add(1)
	}
	return len(p), nil
}

// Close implements io.Closer. zerolog calls it before it ends the process.
func (n *named) Close() error { return n.log.Close() }

// run writes events until the log is closed.
func (l *Log) run() {
	defer close(l.done)
	var drops dropReport
	for {
		select {
		case e := <-l.queue:
			l.write(e)
			continue
		default:
		}
		drops.emit(l, time.Second)
		l.output.flush()
		select {
		case e := <-l.queue:
			l.write(e)
		case answer := <-l.syncs:
			l.drain()
			close(answer)
		case <-l.closed:
			l.drain()
			drops.emit(l, 0)
			l.output.end()
			return
		}
	}
}

// dropReport logs the number of dropped messages, not too often.
type dropReport struct {
	reported uint64
	at       int64
}

func (r *dropReport) emit(l *Log, atMostEvery time.Duration) {
	n, now := l.dropped.Load(), l.o.Now()
	if n == r.reported || now-r.at < int64(atMostEvery) {
		return
	}
	l.emit(&record{time: now, level: Warn, name: "logging",
		message: fmt.Sprintf("%d messages of the log were dropped: they came faster than they could be written",
			n-r.reported)})
	r.reported, r.at = n, now
}

// drain writes the events in the queue.
func (l *Log) drain() {
	for {
		select {
		case e := <-l.queue:
			l.write(e)
		default:
			l.output.flush()
			return
		}
	}
}

// usualText is the initial capacity of an event's text in bytes; largeText is the most that
// it keeps.
const (
	usualText = 256
	largeText = 16 << 10
)

func (l *Log) write(e *event) {
	r := e.record()
	if cap(e.text) > largeText {
		e.text = make([]byte, 0, usualText)
	}
	l.free <- e
	l.emit(&r)
}

func (l *Log) emit(r *record) {
	l.output.write(r)
	if !l.topics.offer(r) {
		l.dropped.Add(1)
	}
}

// output is the console and the file.
type output struct {
	format  format
	console io.Writer // nil without
	colored bool
	file    *os.File // nil without
	buffer  *bufio.Writer
	err     error // the first one, which ends the file
	line    []byte
}

func (o *output) write(r *record) {
	o.line = append(o.format.appendLine(o.line[:0], r), '\n')
	if o.buffer != nil && o.err == nil {
		_, err := o.buffer.Write(o.line)
		o.failed(err)
	}
	if o.console == nil {
		return
	}
	if o.colored {
		o.line = append(o.line[:0], colors[r.level]...)
		o.line = append(append(o.format.appendLine(o.line, r), plainColor...), '\n')
	}
	// An error of the console does not end the log.
	_, _ = o.console.Write(o.line)
}

func (o *output) flush() {
	if o.buffer != nil && o.err == nil {
		o.failed(o.buffer.Flush())
	}
}

// failed keeps the first error of the file and writes it to the console.
func (o *output) failed(err error) {
	if err == nil {
		return
	}
	o.err = fmt.Errorf("the log file ends here: %w", err)
	o.write(&record{time: time.Now().UnixNano(), level: Error, name: "logging", message: o.err.Error()})
}

func (o *output) end() {
	if o.file == nil {
		return
	}
	o.flush()
	if err := o.file.Close(); o.err == nil {
		o.err = err
	}
}
