package bag

import (
	"path/filepath"
	"testing"
	"time"
)

// Messages that fit the queue are in the bag. Dropped ones are counted in the statistics, the sequence numbers
// and the bag.
func TestRecorderCountsWhatItDrops(t *testing.T) {
	for _, storage := range []string{MCAP, SQLite} {
		t.Run(storage, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "recorded")
			w, err := Create(dir, WriterOptions{Storage: storage})
			if err != nil {
				t.Fatal(err)
			}
			// Ticks that never come, and a queue so small that bursts overflow it.
			r := NewRecorder(w, 20_000, make(chan time.Time))
			for _, topic := range sampleTopics() {
				if err := r.AddTopic(topic); err != nil {
					t.Fatal(err)
				}
			}
			other := sampleTopics()[0]
			other.Type = "another"
			if err := r.AddTopic(other); err == nil {
				t.Error("a second type for a topic")
			}
			const n = 3000
			taken := map[string]uint64{}
			for i := range n {
				if m := sample(i); r.Write(m) {
					taken[m.Topic]++
				}
			}
			if r.Write(&Message{Topic: "/unknown"}) {
				t.Error("a topic that was not added")
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if r.Write(sample(n)) {
				t.Error("taken after Close")
			}
			checkRecorded(t, dir, r.Stats(), taken, n)
		})
	}
}

func checkRecorded(t *testing.T, dir string, stats Stats, taken map[string]uint64, n int) {
	t.Helper()
	info, err := Info(dir)
	if err != nil {
		t.Fatal(err)
	}
	var sum uint64
	for _, topic := range info.Topics {
		if topic.Count != taken[topic.Name] {
			t.Errorf("%s: %d messages taken, %d in the bag", topic.Name, taken[topic.Name], topic.Count)
		}
		// One more of /point was offered after the end.
		offered := topic.Count + info.Dropped[topic.Name]
		if offered != uint64(n/3) {
			t.Errorf("%s: %d written and %d dropped of %d", topic.Name, topic.Count, info.Dropped[topic.Name], n/3)
		}
		sum += topic.Count
	}
	if stats.Written != sum || stats.Dropped["/unknown"] != 1 || stats.Queued != 0 || stats.Err != nil ||
		stats.Files != 1 {
		t.Errorf("statistics %+v, %d messages in the bag", stats, sum)
	}
	if sum == uint64(n) {
		t.Log("the disk was so fast that nothing was dropped")
	}
}

// While the disk does not respond, the queue takes what fits and no more.
func TestRecorderDropsWhileTheDiskIsStuck(t *testing.T) {
	plain := createFile
	t.Cleanup(func() { createFile = plain })
	gate := make(chan struct{})
	createFile = func(path string) (mcapFile, error) {
		f, err := plain(path)
		return &stuck{f, gate}, err
	}
	dir := filepath.Join(t.TempDir(), "stuck")
	go func() { gate <- struct{}{} }() // the first flush, when the file is made
	w, err := Create(dir, WriterOptions{FlushEvery: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddTopic(sampleTopics()[0]); err != nil {
		t.Fatal(err)
	}
	r := NewRecorder(w, 10*(queuedSize+16), make(chan time.Time))
	data := make([]byte, 16)
	for i := range 100 {
		r.Write(&Message{Topic: "/chat", LogTime: int64(i), Data: data})
	}
	stats := r.Stats()
	// One batch is being written, one is waiting.
	if d := stats.Dropped["/chat"]; d < 80 || d > 90 {
		t.Errorf("%d of 100 dropped, of a queue of 10", d)
	}
	close(gate)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	bag, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer bag.Close()
	n := 0
	for m, err := range bag.Messages() {
		if err != nil || int64(m.Sequence) != m.LogTime+1 {
			t.Fatalf("message %v %v", m, err)
		}
		n++
	}
	if want := 100 - int(stats.Dropped["/chat"]); n != want || bag.Info().Dropped["/chat"] != stats.Dropped["/chat"] {
		t.Errorf("%d messages, want %d; dropped %v", n, want, bag.Info().Dropped)
	}
}

// stuck is a file whose Sync waits for the gate.
type stuck struct {
	mcapFile
	gate chan struct{}
}

func (f *stuck) Sync() error {
	<-f.gate
	return f.mcapFile.Sync()
}

// Ticks alone flush the last messages.
func TestRecorderFlushesByTicks(t *testing.T) {
	clock := &fakeClock{at: time.Unix(0, sampleStart)}
	dir := filepath.Join(t.TempDir(), "silent")
	w, err := Create(dir, WriterOptions{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	ticks := make(chan time.Time)
	r := NewRecorder(w, 0, ticks)
	for _, topic := range sampleTopics() {
		if err := r.AddTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		r.Write(sample(i))
	}
	ticks <- clock.now()
	ticks <- clock.now() // taken when all of them are with the writer
	clock.add(600 * time.Millisecond)
	ticks <- clock.now() // they are old by now
	ticks <- clock.now() // and that was done
	checkPrefix(t, dir, 10, time.Unix(0, sample(10).LogTime))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// A batch keeps its space for the next one, but not what a flood took.
func TestBatchGivesBackWhatAFloodTook(t *testing.T) {
	for size, kept := range map[int]bool{1000: true, keptSpace + 1: false} {
		b := batch{data: make([]byte, size), messages: make([]queued, 1), topics: make([]Topic, 1)}
		b.clear()
		if len(b.data)+len(b.messages)+len(b.topics) != 0 || (cap(b.data) > 0) != kept {
			t.Errorf("%d bytes: %d of %d left, kept %v", size, len(b.data), cap(b.data), kept)
		}
	}
}
