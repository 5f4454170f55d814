package msggen

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Set is a collection of definitions, looked up by full name.
type Set struct {
	base     *Set // where names are looked up that are not defined here
	messages map[string]*Message
	services map[string]*Service
}

// NewSet is an empty set on top of base, which may be nil.
func NewSet(base *Set) *Set {
	return &Set{base: base, messages: map[string]*Message{}, services: map[string]*Service{}}
}

// Message finds a message, or a service's request or response; nil when there is none.
func (s *Set) Message(full string) *Message {
	for ; s != nil; s = s.base {
		if m := s.messages[full]; m != nil {
			return m
		}
	}
	return nil
}

// Service finds a service; nil when there is none.
func (s *Set) Service(full string) *Service {
	for ; s != nil; s = s.base {
		if v := s.services[full]; v != nil {
			return v
		}
	}
	return nil
}

// Messages are the set's own messages by name, requests and responses included.
func (s *Set) Messages() []*Message {
	return inOrder(s.messages)
}

// Services are the set's own services by name.
func (s *Set) Services() []*Service {
	return inOrder(s.services)
}

func inOrder[T any](m map[string]T) []T {
	var out []T
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[name])
	}
	return out
}

// Add puts a message into the set.
func (s *Set) Add(m *Message) { s.messages[m.Name] = m }

// AddService puts a service and its halves into the set.
func (s *Set) AddService(v *Service) {
	s.services[v.Name] = v
	s.Add(v.Request)
	s.Add(v.Response)
}

// LoadPackage reads dir/msg/*.msg and dir/srv/*.srv of fsys as the ROS package pkg, and returns the
// number of definitions.
func (s *Set) LoadPackage(fsys fs.FS, dir, pkg string) (int, error) {
	if !packageName.MatchString(pkg) {
		return 0, fmt.Errorf("%s: package name %q, expected lower_snake_case", dir, pkg)
	}
	n := 0
	for _, kind := range []string{"msg", "srv"} {
		files, err := fs.Glob(fsys, path.Join(dir, kind, "*."+kind))
		if err != nil {
			return n, err
		}
		for _, file := range files {
			text, err := fs.ReadFile(fsys, file)
			if err != nil {
				return n, err
			}
			name := strings.TrimSuffix(path.Base(file), "."+kind)
			if err := s.parseFile(file, pkg+"/"+kind+"/"+name, kind, string(text)); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

func (s *Set) parseFile(file, full, kind, text string) error {
	if kind == "srv" {
		v, err := ParseService(file, full, text)
		if err == nil {
			s.AddService(v)
		}
		return err
	}
	m, err := ParseMessage(file, full, text)
	if err == nil {
		s.Add(m)
	}
	return err
}

// References are all types that full refers to, directly or not, each once, in depth-first order. It
// fails for a type that is not defined or contains itself.
func (s *Set) References(full string) ([]string, error) {
	w := walk{set: s, state: map[string]bool{}}
	if err := w.visit(full); err != nil {
		return nil, err
	}
	return w.found, nil
}

type walk struct {
	set   *Set
	state map[string]bool // true while a type's fields are being walked, false afterwards
	found []string
}

func (w *walk) visit(full string) error {
	m, err := w.set.Describe(full)
	if err != nil {
		return err
	}
	w.state[full] = true
	for _, f := range m.Fields {
		if f.Type.Base != Nested {
			continue
		}
		open, seen := w.state[f.Type.Ref]
		if open {
			return fmt.Errorf("%s.%s: %s contains itself", full, f.Name, f.Type.Ref)
		}
		if seen {
			continue
		}
		w.found = append(w.found, f.Type.Ref)
		if err := w.visit(f.Type.Ref); err != nil {
			return fmt.Errorf("%s.%s: %w", full, f.Name, err)
		}
	}
	w.state[full] = false
	return nil
}
