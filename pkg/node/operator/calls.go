package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"vnd/msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
)

func (p *Operator) serviceNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.Context().Graph().Services())), rmw.Hidden)
}

// serviceType waits for a service, and returns its full name and its type.
func (p *Operator) serviceType(ctx context.Context, service string) (name, typeName string, err error) {
	name = p.full(service)
	var types []string
	err = p.await(ctx, func(g rmw.Graph) bool {
		types = g.Services()[name]
		return len(types) > 0
	}, name, fmt.Sprintf("service %s: nobody serves it", name), p.serviceNames)
	if err != nil {
		return name, "", err
	}
	if len(types) > 1 {
		return name, "", fmt.Errorf("service %s is served in several types: %s", name, strings.Join(types, ", "))
	}
	return name, types[0], nil
}

// ask calls a service that was found, and waits for its answer.
func ask[Resp, Req any, R ros.Message[Resp], Q ros.Message[Req]](ctx context.Context, p *Operator, service string,
	q *Req) (*Resp, error) {
	c, err := ros.NewClient[Req, Resp, Q, R](p.Node, service)
	if err != nil {
		return nil, err
	}
	return request(ctx, p, c, q)
}

// request calls a service by its client, which it closes, and waits for its answer.
func request[Req, Resp any](ctx context.Context, p *Operator, c *ros.Client[Req, Resp], q *Req) (*Resp, error) {
	defer c.Close()
	there, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	if err := c.WaitForService(there); err != nil {
		return nil, silent(ctx, p, c.Name(), p.patience)
	}
	patience := max(p.patience, p.answers)
	within, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if p.waiting != nil {
		const long = 2 * time.Second
		defer time.AfterFunc(long, func() { p.waiting(c.Name()) }).Stop()
	}
	r, err := c.Call(within, q)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, silent(ctx, p, c.Name(), patience)
	}
	return r, err
}

// silent is of a service that is there and does not answer.
func silent(ctx context.Context, p *Operator, name string, patience time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	g := p.Context().Graph()
	for node, vendor := range rmw.OtherMiddleware(g) {
		of, err := g.Of(node)
		if _, serves := of.Servers[name]; err == nil && serves {
			return fmt.Errorf("service %s: no answer within %v: %s speaks %s: start it with RMW_IMPLEMENTATION=%s, "+
				"or this with that of %s", name, patience, fullName(node), vendor, rmw.Cyclone, vendor)
		}
	}
	return fmt.Errorf("service %s: no answer within %v: its node is busy, or speaks another middleware", name,
		patience)
}

// Call calls a service of any type that this program knows with values in YAML, such as "{data: true}".
func (p *Operator) Call(ctx context.Context, service, values string) (cdr.Message, error) {
	name, typeName, err := p.serviceType(ctx, service)
	if err != nil {
		return nil, err
	}
	t, ok := msgs.LookupService(typeName)
	if !ok {
		return nil, fmt.Errorf("service %s is of type %s, which this program does not know", name, typeName)
	}
	q := t.Request.New()
	if err := Fill(q, values); err != nil {
		return nil, fmt.Errorf("service %s (%s): %w", name, typeName, err)
	}
	c, err := ros.NewDynamicClient(p.Node, name, typeName, t.Response.New)
	if err != nil {
		return nil, err
	}
	r, err := request(ctx, p, c, &ros.Dynamic{Message: q})
	if err != nil {
		return nil, err
	}
	return r.Message, nil
}

// Refused reports whether an answer says that its service did not do what it was asked for: by a field success, or
// successful, that is false.
func Refused(answer cdr.Message) bool { return refused(reflect.ValueOf(answer).Elem()) }

func refused(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			if refused(v.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, f := v.Type().Field(i).Name, v.Field(i)
			if f.Kind() == reflect.Bool && (name == "Success" || name == "Successful") && !f.Bool() || refused(f) {
				return true
			}
		}
	}
	return false
}

// Trigger calls a service of type std_srvs/srv/Trigger. A refusal is an error in the node's words.
func (p *Operator) Trigger(ctx context.Context, service string) (string, error) {
	name, _, err := p.serviceType(ctx, service)
	if err != nil {
		return "", err
	}
	r, err := ask[stdsrvs.TriggerResponse](ctx, p, name, &stdsrvs.TriggerRequest{})
	if err != nil {
		return "", err
	}
	return answered(name, r.Success, r.Message)
}

func answered(name string, success bool, message string) (string, error) {
	if !success {
		return "", fmt.Errorf("service %s: refused: %s", name, message)
	}
	return message, nil
}

// SetTask has the controller fly a task along a reference; "" is the task's own.
func (p *Operator) SetTask(ctx context.Context, service, task, reference string) (string, error) {
	name, _, err := p.serviceType(ctx, service)
	if err != nil {
		return "", err
	}
	r, err := ask[msgs.SetTaskResponse](ctx, p, name, &msgs.SetTaskRequest{Task: task, ReferenceJSON: reference})
	if err != nil {
		return "", err
	}
	return answered(name, r.Success, r.Message)
}

// Parameter is one of a node.
type Parameter struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // nil: not set
}

// node waits for a node, whose full name it returns.
func (p *Operator) node(ctx context.Context, name string) (string, error) {
	full := p.full(name)
	return full, p.await(ctx, func(rmw.Graph) bool { return slices.Contains(p.Nodes(), full) }, full,
		fmt.Sprintf("node %s is not in the graph", full), p.Nodes)
}

// Parameters are those of a node; names nil: all of them, sorted. A name that the node does not have is an error.
func (p *Operator) Parameters(ctx context.Context, node string, names []string) ([]Parameter, error) {
	full, err := p.node(ctx, node)
	if err != nil {
		return nil, err
	}
	if names == nil {
		if names, err = p.parameterNames(ctx, full); err != nil {
			return nil, err
		}
	}
	r, err := ask[rclinterfaces.GetParametersResponse](ctx, p, full+"/get_parameters",
		&rclinterfaces.GetParametersRequest{Names: names})
	if err != nil {
		return nil, err
	}
	if len(r.Values) != len(names) { // as rclcpp: one that is not declared empties the answer
		return nil, p.undeclared(ctx, full, names)
	}
	all := make([]Parameter, len(names))
	for i, name := range names {
		all[i].Name = name
		if all[i].Value, err = params.FromMessage(&r.Values[i]); err != nil {
			return nil, fmt.Errorf("node %s, parameter %s: %w", full, name, err)
		}
	}
	return all, nil
}

func (p *Operator) undeclared(ctx context.Context, node string, names []string) error {
	declared, err := p.parameterNames(ctx, node)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(declared, name) {
			return fmt.Errorf("node %s has no parameter %q%s", node, name, near(name, declared))
		}
	}
	return fmt.Errorf("node %s does not tell its parameters", node)
}

func (p *Operator) parameterNames(ctx context.Context, node string) ([]string, error) {
	r, err := ask[rclinterfaces.ListParametersResponse](ctx, p, node+"/list_parameters",
		&rclinterfaces.ListParametersRequest{})
	if err != nil {
		return nil, err
	}
	slices.Sort(r.Result.Names)
	return r.Result.Names, nil
}

// SetParameter sets one by a value in YAML. An integer becomes a double where the node has one.
func (p *Operator) SetParameter(ctx context.Context, node, name, value string) (any, error) {
	before, err := p.Parameters(ctx, node, []string{name})
	if err != nil {
		return nil, err
	}
	v, err := parse(value, before[0].Value)
	if err != nil {
		return nil, fmt.Errorf("parameter %s: %w", name, err)
	}
	full := p.full(node)
	q := &rclinterfaces.SetParametersRequest{Parameters: []rclinterfaces.Parameter{{Name: name,
		Value: params.ToMessage(v)}}}
	r, err := ask[rclinterfaces.SetParametersResponse](ctx, p, full+"/set_parameters", q)
	switch {
	case err != nil:
		return nil, err
	case len(r.Results) != 1:
		return nil, fmt.Errorf("node %s: %d answers for one parameter", full, len(r.Results))
	case !r.Results[0].Successful:
		return nil, fmt.Errorf("node %s: refused: %s", full, r.Results[0].Reason)
	}
	return v, nil
}
