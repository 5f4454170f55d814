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
	actions  map[string]*Action
}

// NewSet is an empty set on top of base, which may be nil.
func NewSet(base *Set) *Set {
	return &Set{base: base, messages: map[string]*Message{}, services: map[string]*Service{},
		actions: map[string]*Action{}}
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

// Action finds an action; nil when there is none.
func (s *Set) Action(full string) *Action {
	for ; s != nil; s = s.base {
		if a := s.actions[full]; a != nil {
			return a
		}
	}
	return nil
}

// Messages are the set's own messages by name, requests and responses included.
func (s *Set) Messages() []*Message {
	return inOrder(s.messages)
}

// Actions are the set's own actions by name.
func (s *Set) Actions() []*Action {
	return inOrder(s.actions)
}

// Services are the set's own services by name, those of actions included.
func (s *Set) Services() []*Service {
	return inOrder(s.services)
}

// definition is one file, and the messages of it.
type definition struct {
	name     string
	messages []*Message
}

// definitions are the set's own files, by name.
func (s *Set) definitions() []definition {
	files := map[string]definition{}
	for _, m := range s.Messages() {
		files[m.Name] = definition{m.Name, []*Message{m}}
	}
	for _, v := range s.Services() {
		delete(files, v.Request.Name)
		delete(files, v.Response.Name)
		files[v.Name] = definition{v.Name, []*Message{v.Request, v.Response}}
	}
	for _, a := range s.Actions() {
		for _, m := range a.Messages() {
			delete(files, m.Name)
		}
		delete(files, a.SendGoal.Name)
		delete(files, a.GetResult.Name)
		files[a.Name] = definition{a.Name, a.Messages()}
	}
	return inOrder(files)
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

// AddAction puts an action and what is derived from it into the set.
func (s *Set) AddAction(a *Action) {
	s.actions[a.Name] = a
	for _, m := range a.Messages() {
		s.Add(m)
	}
	s.AddService(a.SendGoal)
	s.AddService(a.GetResult)
}

// kinds of definitions, each in a folder of its own.
var kinds = []string{"msg", "srv", "action"}

// LoadPackage reads dir/msg/*.msg, dir/srv/*.srv and dir/action/*.action of fsys as the ROS package pkg, and
// returns the number of definitions.
func (s *Set) LoadPackage(fsys fs.FS, dir, pkg string) (int, error) {
	if !packageName.MatchString(pkg) {
		return 0, fmt.Errorf("%s: package name %q, expected lower_snake_case", dir, pkg)
	}
	n := 0
	for _, kind := range kinds {
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
	if kind == "action" {
		a, err := ParseAction(file, full, text)
		if err == nil {
			s.AddAction(a)
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
