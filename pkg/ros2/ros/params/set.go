package params

import (
	"errors"
	"fmt"

	"vnd/pkg/core/param"
)

// Set sets parameters one by one and returns an error, or nil, for each.
func (s *Store) Set(ps ...Parameter) []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = s.SetAtomically(p)
	}
	return errs
}

// SetAtomically sets all parameters or none. A nil value undeclares a parameter of
// dynamic type.
func (s *Store) SetAtomically(ps ...Parameter) error {
	batch := make([]Parameter, len(ps))
	for i, p := range ps {
		v, err := copied(p.Value)
		if err != nil {
			return fmt.Errorf("parameter '%s': %w", p.Name, err)
		}
		batch[i] = Parameter{p.Name, v}
	}
	defer s.notify()
	s.changes.Lock()
	defer s.changes.Unlock()
	for i, p := range batch {
		if name := s.present(p.Name); name != p.Name {
			s.warn(param.Renamed(p.Name, name))
			batch[i].Name = name
		}
	}
	c, err := s.stage(batch)
	if err != nil {
		return err
	}
	if c.commits, err = s.validate(batch); err != nil {
		return err
	}
	s.apply(c)
	return nil
}

// stage checks a batch against the declarations and returns the change. changes is held.
func (s *Store) stage(batch []Parameter) (*change, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := &change{entries: map[string]entry{}}
	for _, p := range batch {
		e, known, err := s.settable(p.Name)
		if err != nil {
			return nil, err
		}
		if err := e.allows(p.Name, e.declared, p.Value); err != nil {
			if p.Value == nil && e.value != nil {
				err = errors.New("cannot undeclare an statically typed parameter")
			}
			return nil, err
		}
		switch m := message(p); {
		case p.Value == nil && e.value != nil:
			c.deleted = append(c.deleted, p.Name)
			c.event.DeletedParameters = append(c.event.DeletedParameters, message(Parameter{p.Name, e.value}))
			continue
		case !known:
			c.event.NewParameters = append(c.event.NewParameters, m)
		default:
			c.event.ChangedParameters = append(c.event.ChangedParameters, m)
		}
		e.value = p.Value
		if e.DynamicTyping {
			e.declared = TypeOf(p.Value)
		}
		c.entries[p.Name] = e
		c.set = append(c.set, p)
	}
	return c, nil
}

// settable returns the parameter to set, and whether it is declared.
func (s *Store) settable(name string) (e entry, known bool, err error) {
	e, known = s.declared(name)
	switch {
	case name == "":
		err = errors.New("parameter name must not be empty")
	case !known && s.o.AllowUndeclared:
		e.DynamicTyping = true
	case !known:
		err = notDeclared("parameter '" + name + "' cannot be set because it was not declared")
	case e.ReadOnly:
		err = fmt.Errorf("parameter '%s' cannot be set because it is read-only", name)
	}
	return e, known, err
}
