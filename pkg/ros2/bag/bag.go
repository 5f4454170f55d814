// Package bag reads, writes and recovers rosbag2 recordings: folders with a
// metadata.yaml and storage files, MCAP or SQLite, or single storage files.
//
// A Reader gives all messages in the order of their log times, in bounded
// memory, from bags that are whole, cut off by a power loss, still being
// written, compressed, split or damaged, and says what was lost. A Writer
// makes bags that other rosbag2 tools open; a Recorder puts a bounded queue
// before it, so that a slow disk never holds up who has something to record.
package bag

import (
	"fmt"
	"strings"
	"time"

	"vnd/pkg/ros2/bag/loss"
	"vnd/pkg/ros2/bag/metadata"
)

// Names of the storages, as they stand in metadata.yaml.
const (
	MCAP   = "mcap"
	SQLite = "sqlite3"
)

// QoS is a publisher's quality of service while the bag was recorded.
type QoS = metadata.QoS

// Loss says what of a bag could not be read.
type Loss = loss.Loss

// Message is one recorded message.
type Message struct {
	Topic string
	Type  string // "geometry_msgs/msg/PoseStamped"
	// LogTime is when it was recorded, PublishTime when it was sent, both in
	// ns since the epoch. SQLite bags have only LogTime: both are the same.
	LogTime, PublishTime int64
	// Sequence counts the messages of a topic where the recorder did so (a
	// Recorder does, gaps are messages it had to drop); rosbag2 writes 0.
	Sequence uint32
	// Data is the serialized message with its 4-byte encapsulation header.
	// It is valid until the next call of Next.
	Data []byte
}

// Topic is one topic of a bag. A name can be there twice, with different types.
type Topic struct {
	Name, Type string
	Encoding   string // of the messages: "cdr"
	QoS        []QoS  // one per publisher
	TypeHash   string // "RIHS01_…", "" in bags of Humble and older
	// Definition is the text of the type's definition with those it needs,
	// "" in SQLite bags of Humble and older; DefinitionEncoding is "ros2msg"
	// or "ros2idl".
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

// Summary is what is known of a bag without reading its messages.
type Summary struct {
	Path            string
	Storage         string // MCAP or SQLite
	MetadataVersion int    // 0: there is no metadata.yaml, or none that can be used
	Distro          string // of the recorder, "" when not known
	Compression     string // "zstd by file", "zstd by message", "" (MCAP's chunks may still be)
	Files           []File
	Size            int64  // bytes on disk
	Messages        uint64 // readable, as far as is known without reading all
	Start, End      int64  // ns since the epoch, 0 for an empty bag
	Topics          []Topic
	Custom          map[string]string // what the recorder noted
	Dropped         map[string]uint64 // messages a Recorder could not take, by topic
	Live            bool              // seems to be written at this moment
	Warnings        []string          // one line each
	Lost            Loss
}

// Duration is the time between the first and the last message.
func (s *Summary) Duration() time.Duration { return time.Duration(s.End - s.Start) }

// droppedKey begins the custom data that name what a Recorder dropped.
const droppedKey = "vnd.dropped:"

// Info opens a bag only to say what is in it.
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

// names lists topics for people.
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
