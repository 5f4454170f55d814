// Package bag reads, writes and recovers rosbag2 recordings: folders with a
// metadata.yaml and storage files (MCAP or SQLite), or single storage files.
//
// A Reader returns a bag's messages in the order of their log times. The bag may
// be cut off by a power loss, still being written, compressed, split or damaged;
// the Reader counts what is lost. Memory does not grow with the bag's length.
// SQLite files that are damaged or have no index on the time are the exception:
// they take 16 bytes per message. A file that is compressed as a whole is
// unpacked into a temporary folder.
//
// A Writer writes bags that other rosbag2 tools open. A Recorder adds a bounded
// queue, so that a slow disk never blocks the caller.
package bag

import (
	"fmt"
	"strings"

	"vnd/pkg/ros2/bag/loss"
	"vnd/pkg/ros2/bag/metadata"
)

// Names of the storages in metadata.yaml.
const (
	MCAP   = "mcap"
	SQLite = "sqlite3"
)

// QoS is a publisher's quality of service at the time of the recording.
type QoS = metadata.QoS

// Loss counts what could not be read of a bag.
type Loss = loss.Loss

// Message is one recorded message.
type Message struct {
	Topic string
	Type  string // "geometry_msgs/msg/PoseStamped"
	// LogTime is when it was recorded, PublishTime when it was sent, both in
	// ns since the epoch. SQLite bags have LogTime only: both are the same.
	LogTime, PublishTime int64
	// Sequence counts the messages of a topic in MCAP bags. A Recorder counts
	// dropped messages too, so that they show as gaps. Other recorders may
	// write 0.
	Sequence uint32
	// Data is the serialized message with its 4-byte encapsulation header.
	// It is valid until the next message.
	Data []byte
}

// Topic is one topic of a bag. A name can occur twice, with different types.
type Topic struct {
	Name, Type string
	Encoding   string // of the messages: "cdr"
	QoS        []QoS  // one per publisher
	TypeHash   string // "RIHS01_…", "" in bags of Humble and older
	// Definition is the text of the type's definition and of those it refers to,
	// "" in SQLite bags of Humble and older. DefinitionEncoding is "ros2msg" or
	// "ros2idl".
	Definition, DefinitionEncoding string
	Count                          uint64
}

// File is one storage file of a bag.
type File struct {
	Name       string
	Size       int64 // bytes on disk
	Messages   uint64
	Start, End int64 // ns since the epoch, of the first and the last message
}

// Summary describes a bag.
type Summary struct {
	Path            string
	Storage         string // MCAP or SQLite
	MetadataVersion int    // 0: there is no valid metadata.yaml
	Distro          string // of the recorder, "" when not known
	Compression     string // "zstd by file", "zstd by message", or ""; MCAP chunks apart
	Files           []File
	Size            int64  // bytes on disk
	Messages        uint64 // readable, as far as known
	Start, End      int64  // ns since the epoch, 0 for an empty bag
	Topics          []Topic
	Custom          map[string]string // custom data of metadata.yaml
	Dropped         map[string]uint64 // messages that a Recorder dropped, by topic
	Live            bool              // it seems to be written at this moment
	Warnings        []string          // one line each
	Lost            Loss
}

// droppedKey is the prefix of the custom data that count dropped messages.
const droppedKey = "vnd.dropped:"

// Info opens a bag and describes it.
func Info(path string) (Summary, error) {
	r, err := Open(path)
	if err != nil {
		return Summary{}, err
	}
	defer r.Close()
	return r.Info(), nil
}

func (s *Summary) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// names lists topics for an error message.
func names(topics []Topic) string {
	if len(topics) == 0 {
		return "no topics"
	}
	var out []string
	for _, t := range topics {
		out = append(out, fmt.Sprintf("%s (%s)", t.Name, t.Type))
	}
	return strings.Join(out, ", ")
}
