// Package params holds the parameters of one node. They are declared with types, ranges and
// overrides, and changed by the node or by the six parameter services. Control loops read
// them as a struct, without locks.
//
// Rules and error texts are those of rclcpp (ROS 2 Humble): ros2 param, rqt and launch
// files behave as with any other node.
package params

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/param"
)

// Errors of Store, for errors.Is.
var (
	ErrNotDeclared     = errors.New("not declared")
	ErrAlreadyDeclared = errors.New("already been declared")
)

// notDeclared is ErrNotDeclared in rclcpp's words.
type notDeclared string

func (n notDeclared) Error() string { return string(n) }
func (notDeclared) Unwrap() error   { return ErrNotDeclared }

// Options of a Store. The zero value is valid.
type Options struct {
	Node string // full name, for events
	// Overrides by name (rosargs.Args.Overrides); they replace the defaults of declarations.
	Overrides map[string]param.Assignment
	// AllowUndeclared makes a set of an unknown parameter declare it.
	AllowUndeclared bool
	// Warn is called with a line for each former name that is used. It may be nil.
	Warn func(line string)
	// Event is called with every change, in order. It must not change parameters.
	Event func(*rclinterfaces.ParameterEvent)
	// Now stamps events, in ns since 1970.
	Now func() int64
}

// Store holds the parameters of one node. All methods may be called from any goroutine.
type Store struct {
	o       Options
	changes sync.Mutex // held during a change, also while validators run
	used    map[string]bool
	binders []binder

	mu         sync.RWMutex      // guards what follows
	former     map[string]string // names of the version before, to those of now
	parameters map[string]entry
	validators []*func([]Parameter) error
	observers  []*func([]Parameter)

	queue    sync.Mutex // guards what follows
	pending  [][]Parameter
	draining bool
}

type entry struct {
	Descriptor
	declared Type
	value    any // immutable; a change replaces it
}

// binder keeps a struct up to date with its parameters.
type binder interface {
	// prepare checks a change and returns the function that commits it.
	prepare(batch []Parameter) (commit func(), err error)
}

// New returns a store without parameters.
func New(o Options) *Store {
	o.Overrides = maps.Clone(o.Overrides)
	return &Store{o: o, used: map[string]bool{}, former: map[string]string{}, parameters: map[string]entry{}}
}

func (s *Store) warn(line string) {
	if s.o.Warn != nil {
		s.o.Warn(line)
	}
}

// Get returns a parameter's value, nil while it has none.
func (s *Store) Get(name string) (any, error) {
	e, err := s.entry(name)
	v, _ := copied(e.value) // values of the store can be copied
	return v, err
}

// entry of a parameter, by its name or, with a warning, by a former one; an empty one if it may be undeclared.
func (s *Store) entry(name string) (entry, error) {
	e, ok := s.declared(name)
	if now := s.present(name); now != name {
		s.warn(param.Renamed(name, now))
		e, ok = s.declared(now)
	}
	if !ok && !s.o.AllowUndeclared {
		return e, fmt.Errorf("parameter '%s' is %w", name, ErrNotDeclared)
	}
	return e, nil
}

// present is the name that a parameter has now: another one for a former name.
func (s *Store) present(name string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return cmp.Or(s.former[name], name)
}

func (s *Store) declared(name string) (entry, bool) {
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
	_, ok := s.declared(name)
	return ok
}

// Names returns the declared parameters, sorted.
func (s *Store) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.parameters))
}

// Unused returns the overrides that no declaration used, by name: they are probably
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

// BeforeSet calls f before every change, with all values of the change. An error of f
// refuses the change. f may read the store and must not change it.
func (s *Store) BeforeSet(f func([]Parameter) error) (remove func()) {
	return register(s, &s.validators, f)
}

// AfterSet calls f after every change, in order, with the values that were set.
func (s *Store) AfterSet(f func([]Parameter)) (remove func()) {
	return register(s, &s.observers, f)
}

// register adds f to a list of callbacks, newest first as in rclcpp.
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

// validate calls binders and validators, and returns the binders' commits.
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

// change is a set of validated changes.
type change struct {
	entries map[string]entry // new state by name
	deleted []string
	commits []func()
	event   rclinterfaces.ParameterEvent
	set     []Parameter
}

// apply carries out a change. changes is held.
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

// notify calls the observers with the pending changes. changes is not held: observers may
// change parameters. Of nested calls, only the outermost calls observers.
func (s *Store) notify() {
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
