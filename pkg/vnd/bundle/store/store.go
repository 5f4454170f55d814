// Package store keeps the bundles that were promoted, on disk: which one flies, which flew safely before, and what they
// were learned from. It is whole after a kill or a power loss at any moment. It is for the node background_learner.
package store

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/vnd/bundle"
)

// Entry is a bundle that was promoted.
type Entry struct {
	ID         string    `json:"id"`
	Parent     string    `json:"parent"`
	Promoted   time.Time `json:"promoted"`
	Flown      bool      `json:"flown_safely"`
	RolledBack string    `json:"withdrawn,omitempty"` // why; empty while it may fly
}

// state is the file of the store: it and the bundles that it names are the only truth.
type state struct {
	Version int      `json:"version"`
	Current string   `json:"current"`           // ID; empty before the first
	Entries []Entry  `json:"bundles"`           // oldest first
	Learned []string `json:"learned,omitempty"` // digests of data, oldest first
	Issued  int64    `json:"issued,omitempty"`  // time of the newest signature, ns since 1970
}

const (
	version   = 1
	stateName = "state.json"
	suffix    = ".safetensors"
	// mostLearned digests are kept: ten times as many as the topic buffer holds.
	mostLearned = 1000
)

// Store is safe for concurrent use.
type Store struct {
	dir    string
	keep   int
	now    func() time.Time
	unlock func()
	key    ed25519.PrivateKey // nil: nothing is signed

	mu      sync.Mutex
	state   state
	current *bundle.Bundle
}

// Open opens the store in dir, which no other process may write to. keep is how many bundles stay on disk; the one that
// flies, the one before it and the newest that flew safely stay in any case. Where the file of the bundle that flies is
// damaged, the one before it flies; notes say so.
func Open(dir string, keep int, now func() time.Time) (s *Store, notes []string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, nil, fmt.Errorf("bundles: %w", err)
	}
	unlock, err := atomicfile.Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, nil, fmt.Errorf("bundles in %s: %w", dir, err)
	}
	s = &Store{dir: dir, keep: max(keep, 1), now: now, unlock: unlock, state: state{Version: version}}
	if notes, err = s.load(); err != nil {
		unlock()
		return nil, nil, err
	}
	return s, notes, nil
}

func (s *Store) load() (notes []string, err error) {
	if err := atomicfile.RemoveUnfinished(s.dir); err != nil {
		return nil, fmt.Errorf("bundles: %w", err)
	}
	path := filepath.Join(s.dir, stateName)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("bundles: %w", err)
	}
	if err == nil {
		if err := s.state.parse(data); err != nil {
			return nil, fmt.Errorf("bundles: %s: %w", path, err)
		}
	}
	for s.state.Current != "" {
		if s.current, err = s.Bundle(s.state.Current); err == nil {
			break
		}
		notes = append(notes, fmt.Sprintf("the bundle that flew last cannot be used, the one before it flies: %v", err))
		next := s.state.clone()
		if err := next.rollBack("damaged", false); err != nil {
			return notes, fmt.Errorf("bundles in %s: %w", s.dir, err)
		}
		if err := s.save(next); err != nil {
			return notes, err
		}
	}
	return notes, s.tidy()
}

func (t *state) parse(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(t); err != nil {
		return err
	}
	if t.Version != version {
		return fmt.Errorf("version %d, this program reads version %d", t.Version, version)
	}
	seen := map[string]bool{}
	for _, e := range t.Entries {
		if e.ID == "" || filepath.Base(e.ID) != e.ID || seen[e.ID] {
			return fmt.Errorf("bundle %q: expected a name, once", e.ID)
		}
		seen[e.ID] = true
	}
	if t.Current != "" && !seen[t.Current] {
		return fmt.Errorf("the bundle that flies, %q, is not among the bundles", t.Current)
	}
	return nil
}

func (t *state) clone() *state {
	next := *t
	next.Entries, next.Learned = slices.Clone(t.Entries), slices.Clone(t.Learned)
	return &next
}

// save writes the state down, whole, and makes it the present one.
func (s *Store) save(next *state) error {
	data, err := json.MarshalIndent(next, "", "\t")
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, stateName)
	if err := atomicfile.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	}); err != nil {
		return fmt.Errorf("bundles: %w", err)
	}
	s.state = *next
	return nil
}

func (s *Store) path(id string) string { return filepath.Join(s.dir, id+suffix) }

// SignWith has the bundles signed that are issued from now on. It comes before all that does so.
func (s *Store) SignWith(key ed25519.PrivateKey) { s.key = key }

// Issue returns the bytes to publish of a bundle of the store, signed where there is a key, and later than all before.
// The signed file takes the place of the one on disk.
func (s *Store) Issue(b *bundle.Bundle) ([]byte, error) {
	if s.key == nil {
		return b.Encode()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.state.clone()
	next.Issued = max(s.now().UnixNano(), next.Issued+1)
	data, err := b.EncodeSigned(s.key, next.Issued)
	if err != nil {
		return nil, err
	}
	if err := s.save(next); err != nil {
		return nil, err
	}
	return data, bundle.WriteBytes(s.path(b.ID), data)
}

// Bundle reads a bundle of the store.
func (s *Store) Bundle(id string) (*bundle.Bundle, error) {
	b, err := bundle.Read(s.path(id))
	if err == nil && b.ID != id {
		err = fmt.Errorf("%s: it is bundle %s", s.path(id), b.ID)
	}
	return b, err
}

// Current is the bundle that flies, nil before the first.
func (s *Store) Current() *bundle.Bundle {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Entries are the bundles, oldest first.
func (s *Store) Entries() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.Entries)
}

// Promote makes b the bundle that flies. It is on disk when Promote returns; after an error the one before flies on,
// and nothing of b stays.
func (s *Store) Promote(b *bundle.Bundle) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.state.clone()
	if i := next.find(b.ID); i >= 0 {
		if b.ID == next.Current {
			return nil
		}
		next.Entries = slices.Delete(next.Entries, i, i+1)
	}
	next.Entries = append(next.Entries, Entry{ID: b.ID, Parent: b.Parent, Promoted: s.now().UTC().Round(0)})
	next.Current = b.ID
	dropped := next.prune(s.keep)
	err := bundle.Write(s.path(b.ID), b)
	if err == nil {
		err = s.save(next)
	}
	if err != nil {
		if s.state.find(b.ID) < 0 {
			os.Remove(s.path(b.ID))
		}
		return fmt.Errorf("bundle %s cannot be kept: %w", b.ID, err)
	}
	s.current = b
	for _, id := range dropped {
		os.Remove(s.path(id)) // what stays is removed at the next start
	}
	return nil
}

func (t *state) find(id string) int {
	return slices.IndexFunc(t.Entries, func(e Entry) bool { return e.ID == id })
}

// prune forgets the oldest bundles, and returns their names.
func (t *state) prune(keep int) (dropped []string) {
	needed := map[string]bool{t.Current: true, t.before(false): true, t.before(true): true}
	for i := 0; i < len(t.Entries) && len(t.Entries) > keep; {
		if id := t.Entries[i].ID; !needed[id] {
			dropped = append(dropped, id)
			t.Entries = slices.Delete(t.Entries, i, i+1)
			continue
		}
		i++
	}
	return dropped
}

// before is the newest bundle before the one that flies that may fly, if asked for of those that flew safely; empty
// where there is none.
func (t *state) before(safely bool) string {
	for i := t.find(t.Current) - 1; i >= 0; i-- {
		if e := &t.Entries[i]; e.RolledBack == "" && (e.Flown || !safely) {
			return e.ID
		}
	}
	return ""
}

// Before is the ID of the bundle that flew before the current one; empty where there is none.
func (s *Store) Before() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.before(false)
}

// rollBack takes the current bundle back.
func (t *state) rollBack(why string, safely bool) error {
	to := ""
	if safely {
		to = t.before(true)
	}
	if to == "" {
		to = t.before(false)
	}
	if to == "" {
		return fmt.Errorf("bundle %s is %s, and there is no older one to return to", t.Current, why)
	}
	for i := t.find(to) + 1; i < len(t.Entries); i++ {
		if t.Entries[i].RolledBack == "" {
			t.Entries[i].RolledBack = why
		}
	}
	t.Current = to
	return nil
}

// RollBack takes the current bundle back, for a reason, and returns the one that flies now: the one before it or, if
// asked for, the last one before it that flew safely, if there is one. What came between does not fly again either.
func (s *Store) RollBack(why string, safely bool) (*bundle.Bundle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Current == "" {
		return nil, errors.New("there is no bundle yet")
	}
	next := s.state.clone()
	if err := next.rollBack(why, safely); err != nil {
		return nil, err
	}
	b, err := s.Bundle(next.Current)
	if err != nil {
		return nil, err
	}
	if err := s.save(next); err != nil {
		return nil, err
	}
	s.current = b
	return b, nil
}

// Flew notes that a bundle flew safely.
func (s *Store) Flew(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.state.find(id)
	if i < 0 || s.state.Entries[i].Flown {
		return nil
	}
	next := s.state.clone()
	next.Entries[i].Flown = true
	return s.save(next)
}

// Learn notes the digests of data that were learned from.
func (s *Store) Learn(digests ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.state.clone()
	for _, d := range digests {
		if !slices.Contains(next.Learned, d) {
			next.Learned = append(next.Learned, d)
		}
	}
	if n := len(next.Learned); n > mostLearned {
		next.Learned = slices.Delete(next.Learned, 0, n-mostLearned)
	}
	return s.save(next)
}

// Learned reports whether data of that digest were learned from.
func (s *Store) Learned(digest string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.state.Learned, digest)
}

// tidy removes bundles that nothing names: those of promotions that a kill cut short.
func (s *Store) tidy() error {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("bundles: %w", err)
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), suffix)
		if !ok || s.state.find(id) >= 0 {
			continue
		}
		if err := os.Remove(s.path(id)); err != nil {
			return fmt.Errorf("bundles: %w", err)
		}
	}
	return nil
}

// Close lets others write to the store.
func (s *Store) Close() { s.unlock() }
