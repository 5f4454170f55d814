package logs

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// seen looks at a log as an import and the doctor do; an error is one line.
func seen(t *testing.T, l *Log, err error) {
	t.Helper()
	if err == nil {
		l.Check(0.02)
		_, err = l.Ready(0.02)
	}
	if err == nil {
		_, err = l.Flight(0.02)
	}
	if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("an error of more than one line: %q", err)
	}
}

// FuzzLog reads what may be a log of any kind, to the flight. Seeds are the beginnings of real ones.
func FuzzLog(f *testing.F) {
	for _, name := range []string{"ulog/testdata/takeoff.ulg", "dataflash/testdata/takeoff.bin",
		"blackbox/testdata/hover.bbl", "usd/testdata/figure8.usd"} {
		log, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(log)
		f.Add(log[:len(log)/4])
	}
	f.Add([]byte(own14 + "\n0,0,0,1,1,0,0,0,0,0,0,0,0,0\n.02,0,0,1,1,0,0,0,0,0,0,0,0,0\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		l, err := Parse("a.log", bytes.NewReader(log), nil)
		seen(t, l, err)
	})
}

// FuzzRosbag reads the messages of a bag, to the flight. Of each: its topic, its length, ms since the last, its bytes.
func FuzzRosbag(f *testing.F) {
	rows := []map[string]cdr.Message{row(flown(1), 0), row(flown(1), 1)}
	names := slices.Sorted(maps.Keys(rows[0]))
	var seed []byte
	for _, r := range rows {
		for i, name := range names {
			data, err := cdr.Marshal(r[name])
			if err != nil {
				f.Fatal(err)
			}
			seed = append(binary.LittleEndian.AppendUint16(append(seed, byte(i)), uint16(len(data))), 1)
			seed = append(seed, data...)
		}
	}
	for i := range bagStates {
		f.Add(byte(i), seed)
	}
	f.Fuzz(func(t *testing.T, state byte, data []byte) {
		var topics []bag.Topic
		for _, name := range names {
			topics = append(topics, bag.Topic{Name: name, Type: rows[0][name].TypeName(), Count: 1})
		}
		topics[slices.Index(names, "/quad/mocap/pose")].Type = bagStates[int(state)%len(bagStates)]
		b, at := newRosbag(), bagBegin
		if err := b.bind(topics); err != nil {
			t.Fatal(err)
		}
		b.next = func() (*bag.Message, error, bool) {
			const head = 4
			if len(data) < head {
				return nil, nil, false
			}
			size := min(int(binary.LittleEndian.Uint16(data[1:])), len(data)-head)
			at += int64(int8(data[3])) * 1e6
			m := &bag.Message{Topic: names[int(data[0])%len(names)], LogTime: at, Data: data[head:][:size]}
			data = data[head+size:]
			return m, nil, true
		}
		l, err := b.log("a")
		seen(t, l, err)
	})
}
