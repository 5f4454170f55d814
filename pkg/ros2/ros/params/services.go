package params

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	rclinterfaces "vnd/msgs/rcl_interfaces"
)

// The six parameter services. Their responses hold copies.

// GetParameters returns a value for each name, or none if one of them is not declared.
func (s *Store) GetParameters(q *rclinterfaces.GetParametersRequest, r *rclinterfaces.GetParametersResponse) {
	r.Values = each(q.Names, func(name string) (rclinterfaces.ParameterValue, error) {
		v, err := s.Get(name)
		return ToMessage(v), err
	})
}

// GetParameterTypes returns a type for each name, or none if one of them is not declared.
func (s *Store) GetParameterTypes(q *rclinterfaces.GetParameterTypesRequest,
	r *rclinterfaces.GetParameterTypesResponse) {
	r.Types = each(q.Names, func(name string) (uint8, error) {
		v, err := s.Get(name)
		return uint8(TypeOf(v)), err
	})
}

// DescribeParameters returns a descriptor for each name, or none if one of them is not
// declared.
func (s *Store) DescribeParameters(q *rclinterfaces.DescribeParametersRequest,
	r *rclinterfaces.DescribeParametersResponse) {
	r.Descriptors = each(q.Names, func(name string) (rclinterfaces.ParameterDescriptor, error) {
		e, err := s.entry(name)
		return e.message(name, e.declared), err
	})
}

// each calls f with every name, and returns nil after an error.
func each[T any](names []string, f func(name string) (T, error)) []T {
	all := make([]T, len(names))
	for i, name := range names {
		x, err := f(name)
		if err != nil {
			return nil
		}
		all[i] = x
	}
	return all
}

// ListParameters returns the names under the prefixes, or all names without prefixes. They
// are at most depth levels below; 0 is any depth.
func (s *Store) ListParameters(q *rclinterfaces.ListParametersRequest, r *rclinterfaces.ListParametersResponse) {
	r.Result = rclinterfaces.ListParametersResult{}
	for _, name := range s.Names() {
		if !listed(name, q.Prefixes, q.Depth) {
			continue
		}
		r.Result.Names = append(r.Result.Names, name)
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 && !slices.Contains(r.Result.Prefixes, name[:dot]) {
			r.Result.Prefixes = append(r.Result.Prefixes, name[:dot])
		}
	}
}

// listed says whether ListParameters returns a name.
func listed(name string, prefixes []string, depth uint64) bool {
	near := func(rest string) bool {
		return depth == rclinterfaces.ListParametersRequestDepthRecursive || uint64(strings.Count(rest, ".")) < depth
	}
	if len(prefixes) == 0 {
		return near(name)
	}
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		// The dot after the prefix counts, as in rclcpp.
		rest, under := strings.CutPrefix(name, prefix)
		return under && (rest == "" || rest[0] == '.' && near(rest))
	})
}

// SetParameters sets each parameter by itself.
func (s *Store) SetParameters(q *rclinterfaces.SetParametersRequest, r *rclinterfaces.SetParametersResponse) {
	r.Results = r.Results[:0]
	for i := range q.Parameters {
		ps, err := fromMessages(q.Parameters[i : i+1])
		if err == nil {
			err = s.SetAtomically(ps...)
		}
		r.Results = append(r.Results, result(err))
	}
}

// SetParametersAtomically sets all parameters or none.
func (s *Store) SetParametersAtomically(q *rclinterfaces.SetParametersAtomicallyRequest,
	r *rclinterfaces.SetParametersAtomicallyResponse) {
	ps, err := fromMessages(q.Parameters)
	if err == nil {
		err = s.SetAtomically(ps...)
	}
	if errors.Is(err, ErrNotDeclared) {
		err = fmt.Errorf("One or more parameters were not declared before setting: %w",
			err) //lint:ignore ST1005 rclcpp's words
	}
	r.Result = result(err)
}

func fromMessages(ms []rclinterfaces.Parameter) ([]Parameter, error) {
	ps := make([]Parameter, len(ms))
	for i := range ms {
		v, err := FromMessage(&ms[i].Value)
		if err != nil {
			return nil, fmt.Errorf("parameter '%s': %w", ms[i].Name, err)
		}
		ps[i] = Parameter{ms[i].Name, v}
	}
	return ps, nil
}

func result(err error) rclinterfaces.SetParametersResult {
	if err != nil {
		return rclinterfaces.SetParametersResult{Reason: err.Error()}
	}
	return rclinterfaces.SetParametersResult{Successful: true}
}
