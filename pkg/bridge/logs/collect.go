package logs

import (
	"errors"
	"io"
	"math"
	"slices"

	"vnd/pkg/bridge/logs/record"
)

// mapping is one way in which a log may have a channel.
type mapping struct {
	to      Channel
	topic   string   // empty is any
	fields  []string // of the topic; all must be there
	convert func(in, out []float64) bool
}

// binding is a mapping within one log.
type binding struct {
	*mapping
	places []int // of the fields
	in     []float64
	out    []float64
	series Series
}

// collector fills the channels from the rows of a log.
type collector struct {
	mappings []mapping
	bound    map[*record.Topic][]*binding
	all      [][]*binding // by order of preference, then by instance
	longest  bool
	refused  [channels]int // rows that are not finite or beyond largest, or whose time stands still or goes back
}

func newCollector(mappings []mapping, longest bool) *collector {
	return &collector{mappings: mappings, bound: map[*record.Topic][]*binding{},
		all: make([][]*binding, len(mappings)), longest: longest}
}

// wants reports whether a topic has a channel.
func (c *collector) wants(topic string) bool {
	return slices.ContainsFunc(c.mappings, func(m mapping) bool { return m.topic == topic || m.topic == "" })
}

// collect reads a log to its end.
func (c *collector) collect(r record.Reader) error {
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		bindings, ok := c.bound[row.Topic]
		if !ok {
			bindings = c.bind(row.Topic)
			c.bound[row.Topic] = bindings
			if n, ok := r.(record.Narrower); ok {
				n.Narrow(placesOf(bindings))
			}
		}
		for _, b := range bindings {
			c.take(b, &row)
		}
	}
}

// maxInstances of a topic are looked at.
const maxInstances = 256

// bind finds the mappings of a topic; unless longest is set, the first instance counts.
func (c *collector) bind(t *record.Topic) (found []*binding) {
	for i := range c.mappings {
		m := &c.mappings[i]
		if n := len(c.all[i]); m.topic != t.Name && m.topic != "" || n > 0 && !c.longest || n == maxInstances {
			continue
		}
		b := &binding{mapping: m, in: make([]float64, len(m.fields)), out: make([]float64, widths[m.to])}
		for _, f := range m.fields {
			b.places = append(b.places, slices.Index(t.Fields, f))
		}
		if !slices.Contains(b.places, -1) {
			b.series = Series{Source: t.Name, Width: widths[m.to]}
			c.all[i] = append(c.all[i], b)
			found = append(found, b)
		}
	}
	return found
}

// placesOf are the fields that mappings of one topic read.
func placesOf(bindings []*binding) (places []int) {
	for _, b := range bindings {
		places = append(places, b.places...)
	}
	return places
}

// largest is a number beyond all that a vehicle measures.
const largest = 1e9

// take adds a row to a channel. Time must advance.
func (c *collector) take(b *binding, row *record.Record) {
	for i, place := range b.places {
		b.in[i] = row.Values[place]
	}
	out := b.in
	if b.convert != nil {
		if out = b.out; !b.convert(b.in, out) {
			return // the log says itself that the row is void
		}
	}
	n := len(b.series.T)
	finite := !math.IsNaN(row.T) && !math.IsInf(row.T, 0)
	for _, x := range out {
		finite = finite && math.Abs(x) <= largest
	}
	if !finite || n > 0 && row.T <= b.series.T[n-1] {
		c.refused[b.to]++
		return
	}
	b.series.add(row.T, out)
}

// best returns for each channel the first mapping that has rows.
func (c *collector) best() (s [channels]Series) {
	for _, instances := range c.all {
		var most *binding
		for _, b := range instances {
			if most == nil || len(b.series.T) > len(most.series.T) {
				most = b
			}
		}
		if most != nil && len(s[most.to].T) == 0 {
			s[most.to] = most.series
		}
	}
	return s
}
