package conditions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"vnd/pkg/core/atomicfile"
)

// fileContents is the file. Names may be edited while no node has it open.
type fileContents struct {
	Format     int          `json:"format"`
	Robot      string       `json:"robot"`
	Conditions []*Condition `json:"conditions"`
}

const format = 1

// largest file that is read, bytes: some hundred times what a hundred conditions take.
const maxFile = 64 << 20

// read takes over what is at the path; a file that is not there is an empty memory.
func (m *Memory) read() error {
	f, err := os.Open(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return fmt.Errorf("%s: %w", m.path, err)
	}
	if err := m.parse(data); err != nil {
		return fmt.Errorf("%s: %w", m.path, err)
	}
	return nil
}

// parse refuses what Save does not write.
func (m *Memory) parse(data []byte) error {
	var k fileContents
	if len(data) > maxFile {
		return fmt.Errorf("more than %d bytes", maxFile)
	}
	if err := json.Unmarshal(data, &k); err != nil {
		return fmt.Errorf("not the conditions of a robot: %w", err)
	}
	switch {
	case k.Format != format:
		return fmt.Errorf("format is %d, expected %d", k.Format, format)
	case k.Robot != m.robot:
		return fmt.Errorf("conditions of robot %q, expected %q", k.Robot, m.robot)
	case len(k.Conditions) > maxConditions:
		return fmt.Errorf("%d conditions, expected at most %d", len(k.Conditions), maxConditions)
	}
	seen := map[int]bool{}
	for i, c := range k.Conditions {
		if c == nil || c.ID < 1 || seen[c.ID] {
			return fmt.Errorf("conditions[%d]: its id is missing, below 1 or another one's", i)
		}
		seen[c.ID] = true
		if len(c.Name) > maxName || c.Visits < 0 || !(c.Seconds >= 0) || len(c.Windows) > maxWindows {
			return fmt.Errorf("condition %d: name, visits, seconds or windows out of range", c.ID)
		}
	}
	m.all = k.Conditions
	return nil
}

// Save writes the file, whole or not at all, if something changed.
func (m *Memory) Save() error {
	if m.path == "" || !m.dirty {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(m.path), 0o777); err != nil {
		return err
	}
	err := atomicfile.WriteFile(m.path, m.write)
	if err == nil {
		m.dirty = false
	}
	return err
}

// write puts each condition on a line of its own, number and name first, for people.
func (m *Memory) write(w io.Writer) error {
	head, err := json.Marshal(m.robot)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\"format\": %d, \"robot\": %s, \"conditions\": [\n", format, head); err != nil {
		return err
	}
	for i, c := range m.all {
		line, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("condition %d: %w", c.ID, err)
		}
		end := ",\n"
		if i == len(m.all)-1 {
			end = "\n"
		}
		if _, err := w.Write(append(line, end...)); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "]}\n")
	return err
}
