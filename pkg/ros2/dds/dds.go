// Package dds is the interface of a DDS implementation: participants, writers and
// readers of bytes, discovery of other participants, and counts of what went wrong.
// It does not import ROS packages: ROS names, services and the graph of nodes are in
// package rmw.
//
// Backends are packages of their own: dds/cyclone (Cyclone DDS through cgo),
// dds/fastdds (Fast DDS, opened at run time) and dds/inproc (one process, no network).
package dds

import (
	"encoding/hex"
	"time"
)

// GUID is the global identifier of a participant, writer or reader, in network
// order: 12 bytes of the participant's prefix, then 4 of the entity.
type GUID [16]byte

// String is the GUID in hexadecimal.
func (g GUID) String() string { return hex.EncodeToString(g[:]) }

// Participant of one DDS domain. All methods but Wait may be called from any
// goroutine.
type Participant interface {
	GUID() GUID
	// NewWriter and NewReader create endpoints of a topic. Wait returns owner for
	// them. The error names the topic.
	NewWriter(t Topic, q QoS, owner any) (Writer, error)
	NewReader(t Topic, q QoS, owner any) (Reader, error)
	// Wait blocks until a reader has samples, an endpoint has an event, the
	// graph has changed, Wake was called or timeout has passed. A negative
	// timeout never passes. It appends one Ready for each endpoint that is ready. Samples
	// are reported until they are taken, an event and a change of the graph once
	// each. Data may be true without a sample: a writer that is gone leaves an
	// empty mark. One goroutine waits at a time. After Close it returns
	// ErrClosed.
	Wait(timeout time.Duration, ready []Ready) ([]Ready, error)
	// Wake makes the current call of Wait, or else the next one, return.
	Wake()
	// Changes calls f with every change of the graph since the last call, in
	// order: a participant appears before its endpoints and disappears after
	// them. The first call begins with those that exist already. The
	// participant's own endpoints are included. An endpoint that appeared and
	// disappeared between two calls may be left out.
	Changes(f func(Change)) error
	// Close ends the participant with all its endpoints, and notifies other
	// participants.
	Close() error
}

// Ready is one reason why Wait returned.
type Ready struct {
	Owner any  // as given to NewWriter or NewReader; nil for the graph
	Data  bool // a reader has samples
	Event bool // Status has changed; for the graph: Changes has some
}

// Writer sends samples.
type Writer interface {
	GUID() GUID
	// Handle identifies the writer as a client in service requests. It is unique
	// among all writers that match a service.
	Handle() uint64
	// Write sends one sample: a four-byte encapsulation header and its CDR. It
	// does not keep the slice, and allocates nothing. stamp is the source time
	// in ns since 1970, 0 for now. A reliable writer whose readers cannot keep
	// up waits at most QoS.MaxBlocking, then returns ErrTimeout. It fails for a
	// sample that CheckSample refuses.
	Write(sample []byte, stamp int64) error
	// Matched calls f for every matched reader.
	Matched(f func(GUID))
	Status() Status
	Close() error
}

// RelatedWriter is a writer that can say which sample its own is about, as the services
// of DDS-RPC do. Writers of Cyclone DDS cannot.
type RelatedWriter interface {
	Writer
	// WriteRelated writes as Write does, with the time of now. It returns the sample's
	// number among those of this writer.
	WriteRelated(sample []byte, related Identity) (sequence int64, err error)
}

// Identity of a sample: its writer and its number there, from 1. The zero value is no sample.
type Identity struct {
	Writer   GUID
	Sequence int64
}

// Reader receives samples.
type Reader interface {
	GUID() GUID
	// Take calls f with up to max samples, oldest first, and returns how many.
	// It allocates nothing after a first sample of that size. f may call any
	// method, Take too.
	Take(max int, f func(*Sample)) (int, error)
	// Matched calls f for every matched writer.
	Matched(f func(GUID))
	Status() Status
	Close() error
}

// Sample is one received sample.
type Sample struct {
	// Data is encapsulation header and CDR, valid until f returns. Up to three
	// bytes of padding may follow: some writers, ROS' own among them, add it.
	Data     []byte
	Source   int64 // the writer's time, ns since 1970; RTPS carries it to 2⁻³² s
	Received int64 // ns since 1970, 0 when the backend does not know
	Writer   GUID  // zero when the backend does not know
	// Of backends whose writers are RelatedWriters:
	Sequence int64    // the sample's number among those of its writer
	Related  Identity // as given to WriteRelated
}

// Status counts the events of an endpoint since it was created.
type Status struct {
	Matched            int    // endpoints matched now; one just closed counts until discovery removes it
	MatchedTotal       int    // ever
	Incompatible       int    // refusals for QoS; Cyclone counts two of a pair whose ends appear at one moment
	IncompatiblePolicy Policy // the first policy that refused the latest of them
	DeadlineMissed     int    // offered by a writer, requested by a reader
	LivelinessLost     int    // by a writer
	Alive, NotAlive    int    // writers seen by a reader
	SamplesLost        int    // by a reader
}

// Change is a participant or endpoint that appeared, changed or disappeared.
type Change struct {
	Kind        Kind
	Alive       bool
	GUID        GUID
	Participant GUID // of the endpoint
	// The other fields are empty when it disappeared.
	Topic    Topic // of endpoints
	QoS      QoS   // of endpoints
	UserData []byte
}

// Kind of a Change.
type Kind uint8

// Kinds.
const (
	ParticipantKind Kind = iota
	WriterKind
	ReaderKind
)
