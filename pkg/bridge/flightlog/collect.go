package flightlog

import (
	"fmt"
	"strings"

	"vnd/pkg/ros2/bag"
)

// Only is the named topic of a type, or else the only one of it.
func Only(all []bag.Topic, name, type_ string) (bag.Topic, error) {
	var fits []bag.Topic
	var names []string
	for _, t := range all {
		if t.Type == type_ && t.Count > 0 && (name == "" || "/"+strings.TrimPrefix(name, "/") == t.Name) {
			fits, names = append(fits, t), append(names, t.Name)
		}
	}
	switch {
	case len(fits) == 1:
		return fits[0], CheckDefinition(fits[0])
	case len(fits) > 1:
		return bag.Topic{}, fmt.Errorf("%d topics of type %s: %s: expected which", len(fits), type_,
			strings.Join(names, ", "))
	case name != "":
		return bag.Topic{}, fmt.Errorf("there is no topic %q of type %s with messages", name, type_)
	}
	return bag.Topic{}, fmt.Errorf("there is no topic of type %s with messages", type_)
}

// Collect takes all messages of topics. It warns of those that take refuses; a topic of which nothing can be used is an
// error.
func Collect(b *bag.Reader, take func(*bag.Message) error, warn func(topic, text string), topics ...string) error {
	refused := map[string]*refusals{}
	for _, topic := range topics {
		refused[topic] = &refusals{}
	}
	all := map[string]int{}
	for m, err := range b.Messages(topics...) {
		if err != nil {
			return err
		}
		all[m.Topic]++
		if err := take(m); err != nil {
			refused[m.Topic].add(err)
		}
	}
	for _, topic := range topics {
		switch bad := refused[topic]; {
		case all[topic] == 0:
			return fmt.Errorf("topic %s: no message can be read", topic)
		case bad.n == all[topic]:
			return fmt.Errorf("topic %s: none of %d messages can be used: %w", topic, bad.n, bad.first)
		case bad.n > 0:
			warn(topic, fmt.Sprintf("%d of %d messages are not used, the first: %v", bad.n, all[topic], bad.first))
		}
	}
	return nil
}
