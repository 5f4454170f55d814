package operator

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"vnd/msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// Topic is one of the graph.
type Topic struct {
	Name          string   `json:"name"`
	Types         []string `json:"types"`
	Publishers    []string `json:"publishers"` // their nodes
	Subscriptions []string `json:"subscriptions"`
}

// nodesOf are the nodes of endpoints, once each, without hidden ones.
func nodesOf(all []rmw.Endpoint) []string {
	names := []string{}
	for _, e := range all {
		if visible(e.Node) {
			names = append(names, fullName(e.Node))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Topics are those that a node publishes or hears, less what is hidden.
func (p *Operator) Topics() (all []Topic) {
	g := p.Context().Graph()
	types := g.Topics()
	for _, name := range slices.Sorted(maps.Keys(types)) {
		t := Topic{name, types[name], nodesOf(g.Publishers(name)), nodesOf(g.Subscriptions(name))}
		if !rmw.Hidden(name) && len(t.Publishers)+len(t.Subscriptions) > 0 {
			all = append(all, t)
		}
	}
	return all
}

func (p *Operator) topicNames() (names []string) {
	for _, t := range p.Topics() {
		names = append(names, t.Name)
	}
	return names
}

// typeOf waits for a topic's publishers, and returns its name, its type and the QoS that hears all of them.
func (p *Operator) typeOf(ctx context.Context, topic string) (name, typeName string, q ros.QoS, err error) {
	name = p.full(topic)
	var found []rmw.Endpoint
	err = p.await(ctx, func(g rmw.Graph) bool {
		found = g.Publishers(name)
		return len(found) > 0
	}, name, fmt.Sprintf("topic %s: nobody publishes it", name), p.topicNames)
	if err != nil {
		return name, "", q, err
	}
	q = ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 100}
	var types []string
	for _, e := range found {
		if e.QoS.Reliability != dds.Reliable {
			q.Reliability = dds.BestEffort
		}
		if e.QoS.Durability != dds.TransientLocal {
			q.Durability = dds.Volatile
		}
		types = append(types, e.Type)
	}
	slices.Sort(types)
	if types = slices.Compact(types); len(types) > 1 {
		return name, "", q, fmt.Errorf("topic %s has publishers of several types: %s", name, strings.Join(types, ", "))
	}
	return name, types[0], q, nil
}

// Echo hands each message of a topic to show until count have come (0: until ctx is done). Where count are wanted, and
// the first does not come within the patience, that is an error.
func (p *Operator) Echo(ctx context.Context, topic string, count int, show func(cdr.Message) error) error {
	name, typeName, q, err := p.typeOf(ctx, topic)
	if err != nil {
		return err
	}
	t, ok := msgs.Lookup(typeName)
	if !ok {
		return fmt.Errorf("topic %s is of type %s, which this program does not know: vnd topic hz counts its messages",
			name, typeName)
	}
	received := make(chan []byte, 1000)
	s, err := ros.NewRawSubscription(p.Node, name, typeName, q, func(data []byte, _ ros.Info) {
		select {
		case received <- slices.Clone(data):
		default: // whoever reads does not keep up
		}
	})
	if err != nil {
		return err
	}
	defer s.Close()
	var late <-chan time.Time
	if count > 0 {
		late = time.After(p.patience)
	}
	for n := 0; count == 0 || n < count; n++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return fmt.Errorf("topic %s: no message within %v", name, p.patience)
		case data := <-received:
			late = nil
			m := t.New()
			if err := cdr.Unmarshal(data, m); err != nil {
				return fmt.Errorf("topic %s: %w", name, err)
			}
			if err := show(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rate is how often messages of a topic come.
type Rate struct {
	Topic     string  `json:"topic"`
	Type      string  `json:"type"`
	Messages  int     `json:"messages"`
	Rate      float64 `json:"rate_hz"` // 0 for fewer than two messages
	Least     float64 `json:"min_s"`   // between two
	Most      float64 `json:"max_s"`
	Deviation float64 `json:"std_dev_s"`
	Bytes     int     `json:"bytes"` // of all
}

// Rate counts messages for a time.
func (p *Operator) Rate(ctx context.Context, topic string, during time.Duration) (*Rate, error) {
	name, typeName, q, err := p.typeOf(ctx, topic)
	if err != nil {
		return nil, err
	}
	type arrival struct {
		at    time.Time
		bytes int
	}
	arrivals := make(chan arrival, 10000)
	s, err := ros.NewRawSubscription(p.Node, name, typeName, q, func(data []byte, _ ros.Info) {
		select {
		case arrivals <- arrival{time.Now(), len(data)}:
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	r := &Rate{Topic: name, Type: typeName}
	var times []time.Time
	for end := time.After(during); ; {
		select {
		case a := <-arrivals:
			times, r.Bytes = append(times, a.at), r.Bytes+a.bytes
			continue
		case <-end:
		case <-ctx.Done():
		}
		break
	}
	r.measure(times)
	return r, nil
}

// measure takes the arrivals down.
func (r *Rate) measure(times []time.Time) {
	if r.Messages = len(times); r.Messages < 2 {
		return
	}
	n := float64(r.Messages - 1)
	mean, square := times[r.Messages-1].Sub(times[0]).Seconds()/n, 0.0
	r.Least = math.Inf(1)
	for i, t := range times[1:] {
		d := t.Sub(times[i]).Seconds()
		r.Least, r.Most = min(r.Least, d), max(r.Most, d)
		square += (d - mean) * (d - mean)
	}
	if mean > 0 {
		r.Rate = 1 / mean
	}
	r.Deviation = math.Sqrt(square / n)
}
