// Package params is the parameters of one node: declared with types, ranges and
// overrides, changed by the node, by the six parameter services or by neither, and
// read as a struct that control loops get at without locks.
//
// Rules and reasons are those of rclcpp (ROS 2 Humble), so that ros2 param, rqt and
// launch files behave as with any other node.
package params

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/param"
)

// Errors of Store that programs may want to tell from others.
var (
	ErrNotDeclared     = errors.New("not declared")
	ErrAlreadyDeclared = errors.New("already been declared")
)

// notDeclared is ErrNotDeclared in rclcpp's words.
type notDeclared string

func (n notDeclared) Error() string { return string(n) }
func (notDeclared) Unwrap() error   { return ErrNotDeclared }

// Options of a Store. The zero value will do.
type Options struct {
	Node string // full name, for events
	// Overrides by name (rosargs.Args.o.Overrides); a declaration takes its value
	// from here rather than from its default.
	Overrides map[string]param.Assignment
	// AllowUndeclared lets sets declare parameters.
	AllowUndeclared bool
	// Event gets every change, in order. It must not change parameters itself.
	Event func(*rclinterfaces.ParameterEvent)
	// Now stamps events, in ns since 1970.
	Now func() int64
}

// Store holds the parameters of one node. All methods may be called from any
// goroutine.
type Store struct {
	o       Options
	changes sync.Mutex // serialises changes; held while validators run
	used    map[string]bool
	binders []binder

	mu         sync.RWMutex // protects what follows
	parameters map[string]entry
	validators []*func([]Parameter) error
	observers  []*func([]Parameter)

	queue    sync.Mutex // protects what follows
	pending  [][]Parameter
	draining bool
}

type entry struct {
	Descriptor
	declared Type
	value    any // never written into; a change replaces it
}

// binder follows the parameters of a struct.
type binder interface {
	// prepare checks a change and returns what commits it.
	prepare(batch []Parameter) (commit func(), err error)
}

// New returns a store without parameters.
func New(o Options) *Store {
	return &Store{o: o, used: map[string]bool{}, parameters: map[string]entry{}}
}

// Get returns a parameter's value, nil while it has none.
func (s *Store) Get(name string) (any, error) {
	e, ok := s.entry(name)
	if !ok && !s.o.AllowUndeclared {
		return nil, fmt.Errorf("parameter '%s' is %w", name, ErrNotDeclared)
	}
	v, _ := own(e.value) // what is in the store can be copied
	return v, nil
}

func (s *Store) entry(name string) (entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.parameters[name]
	return e, ok
}

// Get returns a parameter's value as a T, one of the Go types of values.
func Get[T any](s *Store, name string) (T, error) {
	v, err := s.Get(name)
	x, ok := v.(T)
	if err == nil && !ok {
		err = fmt.Errorf("parameter '%s' is %s, not a %T", name, TypeOf(v), x)
	}
	return x, err
}

// Has reports whether a parameter is declared.
func (s *Store) Has(name string) bool {
	_, ok := s.entry(name)
	return ok
}

// Names returns the declared parameters, sorted.
func (s *Store) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.parameters))
}

// Unused returns the overrides that no declaration took, by name: probably
// mistyped, or meant for other nodes.
func (s *Store) Unused() []param.Assignment {
	s.changes.Lock()
	defer s.changes.Unlock()
	var unused []param.Assignment
	for _, name := range slices.Sorted(maps.Keys(s.o.Overrides)) {
		if !s.used[name] {
			unused = append(unused, s.o.Overrides[name])
		}
	}
	return unused
}

// BeforeSet has f asked before every change, with all the values of the change; its
// error is the reason of a refusal. f may read the store and must not change it.
func (s *Store) BeforeSet(f func([]Parameter) error) (remove func()) {
	return register(s, &s.validators, f)
}

// AfterSet has f told of every change, in order, without values that are gone.
func (s *Store) AfterSet(f func([]Parameter)) (remove func()) {
	return register(s, &s.observers, f)
}

// register adds f to a list of the store, newest first as in rclcpp.
func register[F any](s *Store, list *[]*F, f F) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = slices.Insert(slices.Clone(*list), 0, &f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		*list = slices.DeleteFunc(slices.Clone(*list), func(g *F) bool { return g == &f })
	}
}

// validate asks binders and validators, and returns what commits the binders.
func (s *Store) validate(batch []Parameter) ([]func(), error) {
	var commits []func()
	for _, b := range s.binders {
		commit, err := b.prepare(batch)
		if err != nil {
			return nil, err
		}
		commits = append(commits, commit)
	}
	s.mu.RLock()
	validators := s.validators
	s.mu.RUnlock()
	for _, f := range validators {
		if err := (*f)(slices.Clone(batch)); err != nil {
			return nil, err
		}
	}
	return commits, nil
}

// change is a set of changes that has been found good.
type change struct {
	entries map[string]entry // new state by name
	deleted []string
	commits []func()
	event   rclinterfaces.ParameterEvent
	set     []Parameter
}

// apply makes a change real. changes is held.
func (s *Store) apply(c *change) {
	s.mu.Lock()
	maps.Copy(s.parameters, c.entries)
	for _, name := range c.deleted {
		delete(s.parameters, name)
	}
	s.mu.Unlock()
	for _, commit := range c.commits {
		commit()
	}
	if s.o.Event != nil {
		if s.o.Now != nil {
			now := s.o.Now()
			c.event.Stamp.Sec, c.event.Stamp.Nanosec = int32(now/1e9), uint32(now%1e9)
		}
		c.event.Node = s.o.Node
		s.o.Event(&c.event)
	}
	if len(c.set) > 0 {
		s.queue.Lock()
		s.pending = append(s.pending, c.set)
		s.queue.Unlock()
	}
}

// tell calls the observers with what is pending. changes is not held, so that they
// may change parameters; whoever is telling already goes on with theirs.
func (s *Store) tell() {
	for {
		s.queue.Lock()
		if s.draining || len(s.pending) == 0 {
			s.queue.Unlock()
			return
		}
		batch := s.pending[0]
		s.pending = s.pending[1:]
		s.draining = true
		s.queue.Unlock()

		s.mu.RLock()
		observers := s.observers
		s.mu.RUnlock()
		for _, f := range observers {
			(*f)(slices.Clone(batch))
		}

		s.queue.Lock()
		s.draining = false
		s.queue.Unlock()
	}
}

func message(p Parameter) rclinterfaces.Parameter {
	return rclinterfaces.Parameter{Name: p.Name, Value: ToMessage(p.Value)}
}
