// Package ddstest is the conformance suite for backends of package dds. Each
// backend's tests call Run.
package ddstest

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// Open creates a participant with user data.
type Open func(t testing.TB, userData []byte) dds.Participant

// Feature is a part of package dds that some backend cannot provide.
type Feature string

// Features that Fast DDS lacks.
const (
	// Discovery carries the history of others.
	History Feature = "history"
	// A participant may have a topic with two types.
	TwoTypes Feature = "two types"
)

// Run tests a backend; without lists the features that it lacks. domain is called once for
// each test; it returns a function that opens participants of one domain.
func Run(t *testing.T, domain func(t testing.TB) Open, without ...Feature) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *harness)
	}{
		{"sizes", sizes}, {"stamps", stamps}, {"burst", burst}, {"best effort", bestEffort},
		{"take max", takeMax}, {"reentrant take", reentrantTake}, {"bad samples", badSamples},
		{"truncated CDR", truncated}, {"allocations", allocations},
		{"late joiners", lateJoiners}, {"late keep all", lateKeepAll}, {"keep last", keepLast}, {"deadline", deadline},
		{"liveliness", liveliness}, {"lifespan", lifespan}, {"incompatible", incompatible}, {"bad QoS", badQoS},
		{"wake", wake}, {"timeouts", timeouts}, {"reported until taken", reportedUntilTaken},
		{"events once", eventsOnce},
		{"order of many", orderOfMany},
		{"matched", matched}, {"ignore local", ignoreLocal}, {"types apart", typesApart}, {"handles", handles},
		{"changes", changes}, {"changes at open", changesAtOpen}, {"changes forgotten", changesForgotten},
		{"close while waiting", closeWhileWaiting}, {"close while writing", closeWhileWriting},
		{"related", related},
		{"close while taking", closeWhileTaking}, {"closed", closed}, {"vanishing writer", vanishingWriter},
		{"everything at once", everythingAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "allocations" { // it counts those of all tests
				t.Parallel()
			}
			c.test(t, &harness{t: t, open: domain(t), without: without})
		})
	}
}

// patience is how long a test waits.
const patience = 30 * time.Second

// harness creates participants and endpoints; it ends the test on an error.
type harness struct {
	t       *testing.T
	open    Open
	without []Feature
}

func (h *harness) has(f Feature) bool { return !slices.Contains(h.without, f) }

func (h *harness) participant() dds.Participant {
	h.t.Helper()
	p := h.open(h.t, []byte("enclave=/;"))
	h.t.Cleanup(func() {
		if err := p.Close(); err != nil {
			h.t.Errorf("closing a participant: %v", err)
		}
	})
	return p
}

func (h *harness) writer(p dds.Participant, name string, q dds.QoS) dds.Writer {
	h.t.Helper()
	w, err := p.NewWriter(topic(name), q, name+" writer")
	if err != nil {
		h.t.Fatal(err)
	}
	return w
}

func (h *harness) reader(p dds.Participant, name string, q dds.QoS) dds.Reader {
	h.t.Helper()
	r, err := p.NewReader(topic(name), q, name+" reader")
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// pair creates a writer and a reader in two participants, and waits until they
// match.
func (h *harness) pair(name string, w, r dds.QoS) (dds.Writer, dds.Reader) {
	h.t.Helper()
	writer := h.writer(h.participant(), name, w)
	reader := h.reader(h.participant(), name, r)
	h.waitMatched(writer, reader)
	return writer, reader
}

// waitMatched waits until the writer and each reader list one another. A count of matches
// does not suffice: it includes closed endpoints until discovery removes them. A
// volatile writer sends nothing to a reader that it does not list.
func (h *harness) waitMatched(w dds.Writer, readers ...dds.Reader) {
	h.t.Helper()
	for _, r := range readers {
		h.eventually("the reader lists the writer", func() bool { return lists(r, w.GUID()) })
		h.eventually("the writer lists the reader", func() bool { return lists(w, r.GUID()) })
	}
}

// lists reports whether an endpoint lists the one with that GUID as a match.
func lists(e interface{ Matched(func(dds.GUID)) }, g dds.GUID) bool {
	found := false
	e.Matched(func(other dds.GUID) { found = found || other == g })
	return found
}

func (h *harness) write(w dds.Writer, samples ...[]byte) {
	h.t.Helper()
	for _, s := range samples {
		if err := w.Write(s, 0); err != nil {
			h.t.Fatalf("writing %d bytes: %v", len(s), err)
		}
	}
}

// eventually waits until something is true.
func (h *harness) eventually(what string, is func() bool) {
	h.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// take waits for n samples and returns copies of them.
func (h *harness) take(r dds.Reader, n int) []dds.Sample {
	h.t.Helper()
	var got []dds.Sample
	h.eventually("samples arrive", func() bool {
		got = append(got, h.takeNow(r, n-len(got))...)
		return len(got) == n
	})
	return got
}

// takeNow returns copies of at most n samples, without waiting.
func (h *harness) takeNow(r dds.Reader, n int) []dds.Sample {
	h.t.Helper()
	var got []dds.Sample
	counted, err := r.Take(n, func(s *dds.Sample) {
		c := *s
		c.Data = bytes.Clone(s.Data)
		got = append(got, c)
	})
	if err != nil {
		h.t.Fatal(err)
	}
	if counted != len(got) {
		h.t.Fatalf("Take returned %d and gave %d samples", counted, len(got))
	}
	return got
}

// waitFor calls Wait until it reports something that is accepted, and returns
// everything that Wait reported.
func (h *harness) waitFor(p dds.Participant, what string, is func(dds.Ready) bool) []dds.Ready {
	h.t.Helper()
	var reported []dds.Ready
	for end := time.Now().Add(patience); time.Now().Before(end); {
		before := len(reported)
		var err error
		if reported, err = p.Wait(time.Second, reported); err != nil {
			h.t.Fatal(err)
		}
		if slices.ContainsFunc(reported[before:], is) {
			return reported
		}
	}
	h.t.Fatalf("Wait did not report: %s; but %v", what, reported)
	return nil
}

// calm waits until Wait has nothing to report for a while.
func (h *harness) calm(p dds.Participant) {
	h.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		ready, err := p.Wait(200*time.Millisecond, nil)
		if err != nil {
			h.t.Fatal(err)
		}
		if len(ready) == 0 {
			return
		}
	}
	h.t.Fatal("Wait always reports something")
}

// topic has a type that only this package uses.
func topic(name string) dds.Topic {
	return dds.Topic{Name: "rt/" + strings.ReplaceAll(name, " ", "_"), Type: "ddstest::msg::dds_::Bytes_"}
}

// reliable is a reliable QoS that keeps all samples.
func reliable() dds.QoS {
	return dds.QoS{Reliability: dds.Reliable, History: dds.KeepAll, MaxBlocking: 10 * time.Second}
}

// number is a sample with a number in it.
func number(i int) []byte {
	return binary.LittleEndian.AppendUint32([]byte{0, 1, 0, 0}, uint32(i))
}

func numberOf(t testing.TB, s dds.Sample) int {
	t.Helper()
	if len(s.Data) != 8 || !bytes.Equal(s.Data[:4], []byte{0, 1, 0, 0}) {
		t.Fatalf("a sample of %d bytes, % x: expected encapsulation and a number", len(s.Data), s.Data)
	}
	return int(binary.LittleEndian.Uint32(s.Data[4:]))
}

func numbersOf(t testing.TB, samples []dds.Sample) []int {
	t.Helper()
	var numbers []int
	for _, s := range samples {
		numbers = append(numbers, numberOf(t, s))
	}
	return numbers
}

func numbers(from, to int) [][]byte {
	var samples [][]byte
	for i := from; i <= to; i++ {
		samples = append(samples, number(i))
	}
	return samples
}
