// Package recordtest holds readers of logs against what a foreign reader found in the same files.
package recordtest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/bridge/logs/record"
)

// Channels are the rows of a topic and a digest of each field, as benchmarks/peers/log_channels.py writes them.
type Channels struct {
	Rows   int               `json:"rows"`
	Fields map[string]string `json:"fields"`
}

// Hold holds a reader's channels against what a foreign reader found in the logs of testdata, and of the folder that
// VND_LOGS names: files with this end, LOG.json or LOG.tools.json beside LOG. It returns the faults that were found.
func Hold(t *testing.T, end string, open func(name string, r io.Reader) (record.Reader, error)) (faults []string) {
	t.Helper()
	for _, golden := range goldens(t, end) {
		t.Run(golden, func(t *testing.T) {
			log := strings.TrimSuffix(strings.TrimSuffix(golden, ".json"), ".tools")
			f, err := os.Open(log)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := open(log, f)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, golden, r)
			for _, line := range r.About().Faults.Lines() {
				t.Log(line)
				faults = append(faults, golden+": "+line)
			}
		})
	}
	return faults
}

func goldens(t *testing.T, end string) (files []string) {
	t.Helper()
	for _, dir := range []string{"testdata", os.Getenv("VND_LOGS")} {
		if dir == "" {
			continue
		}
		found, err := filepath.Glob(filepath.Join(dir, "*"+end))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatal("nothing to compare with")
	}
	return files
}

// compare fails the test where a reader's channels are not those of the file.
func compare(t *testing.T, golden string, r record.Reader) {
	t.Helper()
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]Channels
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	got, err := channels(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 {
		t.Errorf("no topics in %s", golden)
	}
	compared := 0
	for topic, w := range want {
		g := got[topic]
		if g.Rows != w.Rows {
			t.Errorf("%s: %d rows, want %d", topic, g.Rows, w.Rows)
		}
		for field, digest := range w.Fields {
			compared++
			if g.Fields[field] != digest {
				t.Errorf("%s: %s has %q, want %q", topic, field, g.Fields[field], digest)
			}
		}
	}
	t.Logf("%d topics, %d channels", len(want), compared)
}

type sum struct {
	rows   int
	topic  *record.Topic
	fields []hash.Hash
}

func channels(r record.Reader) (map[string]Channels, error) {
	sums := map[string]*sum{}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s %d", row.Topic.Name, row.Topic.Instance)
		s := sums[name]
		if s == nil {
			s = &sum{topic: row.Topic}
			for range row.Topic.Fields {
				s.fields = append(s.fields, sha256.New())
			}
			sums[name] = s
		}
		s.rows++
		for i, x := range row.Values {
			if math.IsNaN(x) {
				x = math.Float64frombits(0x7FF8000000000000)
			}
			s.fields[i].Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
		}
	}
	out := map[string]Channels{}
	for name, s := range sums {
		c := Channels{Rows: s.rows, Fields: map[string]string{}}
		for i, f := range s.topic.Fields {
			c.Fields[f] = hex.EncodeToString(s.fields[i].Sum(nil))
		}
		out[name] = c
	}
	return out, nil
}

// Drain reads a log to its end and checks what every reader holds: as many values as fields, io.EOF that stays.
func Drain(t *testing.T, r record.Reader) (rows int, err error) {
	t.Helper()
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			if _, again := r.Next(); !errors.Is(again, io.EOF) {
				t.Fatalf("after the end: %v", again)
			}
			return rows, nil
		}
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("an error of more than one line: %q", err)
			}
			return rows, err
		}
		if len(row.Values) != len(row.Topic.Fields) {
			t.Fatalf("%d values of %d fields", len(row.Values), len(row.Topic.Fields))
		}
		rows++
	}
}

// Damaged reads a log to its end, and fails the test where it has not so many rows, or faults that say something else.
// err is that of the reader's beginning; no fault is "".
func Damaged(t *testing.T, r record.Reader, err error, want int, fault string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Drain(t, r)
	if rows != want || err != nil {
		t.Errorf("%d rows, want %d; %v", rows, want, err)
	}
	text := strings.Join(r.About().Faults.Lines(), "; ")
	if !strings.Contains(text, fault) || fault == "" && text != "" {
		t.Errorf("faults %q, want %q", text, fault)
	}
}

// Refused fails the test where a log is read to its end, or refused in other words. err is that of the reader's
// beginning.
func Refused(t *testing.T, r record.Reader, err error, want string) {
	t.Helper()
	if err == nil {
		_, err = Drain(t, r)
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
