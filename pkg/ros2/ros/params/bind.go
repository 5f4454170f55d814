package params

import (
	"sync/atomic"

	"vnd/pkg/core/param"
)

// Bound is a struct of parameters, with package param's tags, that follows the store.
type Bound[T any] struct {
	current atomic.Pointer[T]
	check   func(*T) error
	names   map[string]bool
}

// Bind declares the parameters of T with the defaults, ranges and docs of its tags. Each
// change replaces the whole struct. check, if not nil, may refuse a combination of values.
func Bind[T any](s *Store, check func(*T) error) (*Bound[T], error) {
	first := new(T)
	if err := param.Check(first); err != nil {
		return nil, err
	}
	param.Default(first)
	return BindFrom(s, first, check)
}

// BindFrom is Bind with the values of first, whose tags are good, in place of the defaults.
func BindFrom[T any](s *Store, first *T, check func(*T) error) (*Bound[T], error) {
	b := &Bound[T]{check: check, names: map[string]bool{}}
	b.current.Store(first)
	initial := param.Values(first)
	var all []declaration
	for _, d := range param.Describe(first) {
		b.names[d.Name] = true
		all = append(all, declaration{name: d.Name, former: d.Former, initial: initial[d.Name],
			Descriptor: descriptorOf(d)})
	}
	if err := s.declare(all, b); err != nil {
		return nil, err
	}
	return b, nil
}

// Load returns the present values. It neither blocks nor allocates. The struct is
// immutable; a later change makes a new one.
func (b *Bound[T]) Load() *T { return b.current.Load() }

func (b *Bound[T]) prepare(batch []Parameter) (func(), error) {
	next := new(T)
	*next = *b.current.Load() // slices are shared and replaced, never written into
	touched := false
	for _, p := range batch {
		if !b.names[p.Name] {
			continue
		}
		touched = true
		if err := param.Assign(next, p.Name, toField(p.Value)); err != nil {
			return nil, err
		}
	}
	if !touched {
		return func() {}, nil
	}
	if b.check != nil {
		if err := b.check(next); err != nil {
			return nil, err
		}
	}
	return func() { b.current.Store(next) }, nil
}
