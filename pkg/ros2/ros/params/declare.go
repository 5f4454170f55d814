package params

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vnd/pkg/core/param"
)

// declaration is a parameter to declare.
type declaration struct {
	name    string
	former  []string // names of the version before, which overrides may still have
	initial any      // a value, or a Type without one
	Descriptor
}

// Declare declares a parameter and returns its value: the override, or else initial. An
// initial Type declares a parameter of that type without a value.
func (s *Store) Declare(name string, initial any, d Descriptor) (any, error) {
	if err := s.declare([]declaration{{name: name, initial: initial, Descriptor: d}}, nil); err != nil {
		return nil, err
	}
	return s.Get(name)
}

// DeclareOverrides declares every override that is not declared yet, with dynamic types.
func (s *Store) DeclareOverrides() error {
	var all []declaration
	for _, name := range slices.Sorted(maps.Keys(s.o.Overrides)) {
		if !s.Has(name) && s.present(name) == name {
			all = append(all, declaration{name: name, Descriptor: Descriptor{DynamicTyping: true}})
		}
	}
	return s.declare(all, nil)
}

// declare declares all parameters or none, and registers b if it is not nil.
func (s *Store) declare(all []declaration, b binder) error {
	defer s.notify()
	s.changes.Lock()
	defer s.changes.Unlock()
	c := change{entries: map[string]entry{}}
	for _, d := range all {
		if _, twice := c.entries[d.name]; twice || s.Has(d.name) {
			return fmt.Errorf("parameter '%s' has %w", d.name, ErrAlreadyDeclared)
		}
		e, err := s.initial(d)
		if err != nil {
			return err
		}
		c.entries[d.name] = e
		if e.value != nil {
			c.set = append(c.set, Parameter{d.name, e.value})
			c.event.NewParameters = append(c.event.NewParameters, message(Parameter{d.name, e.value}))
		}
	}
	binders := s.binders
	if b != nil {
		s.binders = append(slices.Clone(binders), b)
	}
	var err error
	if c.commits, err = s.validate(c.set); err != nil {
		s.binders = binders
		if len(c.set) == 1 {
			return s.refused(c.set[0].Name, err)
		}
		return err
	}
	s.mu.Lock()
	for _, d := range all {
		s.used[d.name] = true
		for _, former := range d.former {
			s.used[former] = true
			s.former[former] = d.name
		}
	}
	s.mu.Unlock()
	s.apply(&c)
	return nil
}

// refused is the error of a declaration. It names the parameter, and the override that the
// value came from.
func (s *Store) refused(name string, err error) error {
	err = fmt.Errorf("parameter '%s' could not be set: %w", name, err)
	if o, ok := s.o.Overrides[name]; ok {
		return fmt.Errorf("%s: %w", o.Where, err)
	}
	return err
}

// override returns what the command line says of a parameter, by its name or else by a former one. Each former name
// is warned of once.
func (s *Store) override(d declaration) (param.Assignment, bool) {
	o, ok := s.o.Overrides[d.name]
	for _, former := range d.former {
		old, there := s.o.Overrides[former]
		if !there {
			continue
		}
		line := param.Renamed(former, d.name)
		if ok {
			line = fmt.Sprintf("parameter %q is now %q, which is set, too: the value of the old name is not used",
				former, d.name)
		}
		s.warn(strings.TrimPrefix(old.Where+": "+line, ": "))
		if !ok {
			o, ok = old, true
			s.o.Overrides[d.name] = old
		}
		delete(s.o.Overrides, former)
	}
	return o, ok
}

// initial returns the first entry of a declaration.
func (s *Store) initial(d declaration) (entry, error) {
	if d.name == "" {
		return entry{}, errors.New("parameter name must not be empty")
	}
	e := entry{Descriptor: d.Descriptor}
	var err error
	if t, ok := d.initial.(Type); ok {
		e.declared = t
	} else if e.value, err = copied(d.initial); err != nil {
		return e, fmt.Errorf("parameter '%s': %w", d.name, err)
	} else {
		e.declared = TypeOf(e.value)
	}
	if e.declared == NotSet && !d.DynamicTyping {
		return e, fmt.Errorf("parameter '%s' has invalid type: cannot declare a statically typed parameter with an "+
			"uninitialized value", d.name)
	}
	if o, ok := s.override(d); ok {
		if e.value, err = copied(fromYAML(o.Value, e.declared)); err == nil && e.value == nil {
			err = emptyList(d.name, e.declared)
		}
	}
	if err == nil && e.value != nil {
		err = e.allows(d.name, e.declared, e.value)
	}
	if err != nil {
		return e, s.refused(d.name, err)
	}
	if d.DynamicTyping {
		e.declared = TypeOf(e.value)
	}
	return e, nil
}

func emptyList(name string, declared Type) error {
	if declared == NotSet {
		return errors.New("an empty list has no type")
	}
	return fmt.Errorf("Wrong parameter type, parameter {%s} is of type {%s}, setting it to an empty list is not "+
		"allowed.", name, declared) //lint:ignore ST1005 rclcpp's words
}

// Undeclare removes a parameter, which must be dynamically typed and not read-only.
func (s *Store) Undeclare(name string) error {
	defer s.notify()
	s.changes.Lock()
	defer s.changes.Unlock()
	e, ok := s.declared(name)
	switch {
	case !ok:
		return notDeclared("cannot undeclare parameter '" + name + "' which has not yet been declared")
	case e.ReadOnly:
		return fmt.Errorf("cannot undeclare parameter '%s' because it is read-only", name)
	case !e.DynamicTyping:
		return fmt.Errorf("parameter '%s' has invalid type: cannot undeclare an statically typed parameter", name)
	}
	c := change{deleted: []string{name}}
	c.event.DeletedParameters = append(c.event.DeletedParameters, message(Parameter{name, e.value}))
	s.apply(&c)
	return nil
}
