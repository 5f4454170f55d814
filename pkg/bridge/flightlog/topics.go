package flightlog

import (
	"fmt"
	"slices"
	"strings"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/msggen"
)

// role is what a topic is wanted for.
type role struct {
	what      string // for people
	parameter string // that names the topic
	named     string // its value
	fits      func(bag.Topic) bool
	ambiguous func(bag.Topic) bool // fits, but is taken only when named
}

func (o Options) poseRole() role {
	return role{
		what: "poses", parameter: "pose_topic", named: o.PoseTopic,
		fits: func(t bag.Topic) bool { return slices.Contains(bridge.PoseTypes(), t.Type) },
		// Transforms are often of other things.
		ambiguous: func(t bag.Topic) bool {
			return o.Body == "" && (t.Type == bridge.TypeTFMessage || t.Type == bridge.TypeTransformStamped) ||
				strings.HasSuffix(t.Name, "/tf_static")
		},
	}
}

func (o Options) commandRole() role {
	return role{
		what: "commands", parameter: "command_topic", named: o.CommandTopic,
		fits: func(t bag.Topic) bool {
			stack, ok := bridge.CommandTypes()[t.Type]
			return ok && (o.CommandInterface == bridge.Auto || stack == o.CommandInterface)
		},
		// A Twist is most often a velocity; the others are the autopilot's echoes.
		ambiguous: func(t bag.Topic) bool {
			return t.Type == bridge.TypeTwist && o.CommandInterface != bridge.Crazyswarm ||
				strings.HasSuffix(t.Name, "/target_attitude") || strings.HasPrefix(t.Name, "/fmu/out/")
		},
	}
}

// Topics returns the topics of a bag that poses and commands are taken from, which are the same one where vnd's own
// controller recorded its steps. The error says which could be meant, or what there is, and names the parameter.
func (o Options) Topics(all []bag.Topic) (pose, command bag.Topic, err error) {
	pose, err = o.poseRole().choose(all)
	if err != nil {
		return pose, command, err
	}
	if pose.Type == bridge.TypeStep && o.CommandTopic == "" {
		return pose, pose, nil
	}
	command, err = o.commandRole().choose(all)
	return pose, command, err
}

// choose takes the topic that is named, else the only one that fits; vnd's own steps go before anything else.
func (r role) choose(all []bag.Topic) (bag.Topic, error) {
	if r.named != "" {
		return r.find(all)
	}
	var clear, unclear, silent []bag.Topic
	for _, t := range all {
		switch {
		case !r.fits(t):
		case t.Count == 0:
			silent = append(silent, t)
		case r.ambiguous(t):
			unclear = append(unclear, t)
		default:
			clear = append(clear, t)
		}
	}
	if i := slices.IndexFunc(clear, isStep); i >= 0 && !slices.ContainsFunc(clear[i+1:], isStep) {
		return clear[i], nil
	}
	switch {
	case len(clear) == 1:
		return clear[0], nil
	case len(clear) > 1:
		return bag.Topic{}, fmt.Errorf("%d topics with %s: %s: parameter %s has to say which", len(clear), r.what,
			listed(clear), r.parameter)
	case len(unclear) > 0:
		return bag.Topic{}, fmt.Errorf("no topic is clearly one with %s; parameter %s may name %s", r.what, r.parameter,
			listed(unclear))
	case len(silent) > 0:
		return bag.Topic{}, fmt.Errorf("no %s: there is not a message on %s", r.what, listed(silent))
	}
	return bag.Topic{}, fmt.Errorf("no topic with %s; it has %s", r.what, listed(all))
}

func isStep(t bag.Topic) bool { return t.Type == bridge.TypeStep }

// find returns the topic that is named.
func (r role) find(all []bag.Topic) (bag.Topic, error) {
	name := "/" + strings.TrimPrefix(r.named, "/")
	var other *bag.Topic
	for i, t := range all {
		if "/"+strings.TrimPrefix(t.Name, "/") != name {
			continue
		}
		if r.fits(t) {
			return t, nil
		}
		other = &all[i]
	}
	if other != nil {
		return bag.Topic{}, fmt.Errorf("parameter %s: topic %s is of type %s, which is not read for %s", r.parameter,
			other.Name, other.Type, r.what)
	}
	var right []bag.Topic
	for _, t := range all {
		if r.fits(t) {
			right = append(right, t)
		}
	}
	if len(right) > 0 {
		return bag.Topic{}, fmt.Errorf("parameter %s: no topic %s; right would be %s", r.parameter, name, listed(right))
	}
	return bag.Topic{}, fmt.Errorf("parameter %s: no topic %s; it has %s", r.parameter, name, listed(all))
}

// maxListed bounds an error's length.
const maxListed = 12

func listed(topics []bag.Topic) string {
	if len(topics) == 0 {
		return "no topics at all"
	}
	var names []string
	for _, t := range topics[:min(len(topics), maxListed)] {
		names = append(names, fmt.Sprintf("%s (%s)", t.Name, t.Type))
	}
	if more := len(topics) - maxListed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// CheckDefinition compares the definition that a bag carries with the one that is read. Bags of Humble in SQLite carry
// none.
func CheckDefinition(t bag.Topic) error {
	known, ok := msgs.Lookup(t.Type)
	if !ok || t.TypeHash == known.Hash {
		return nil
	}
	if t.Definition != "" && t.DefinitionEncoding == "ros2msg" {
		theirs, err := msggen.ParseDefinition(t.Type, t.Type, t.Definition)
		if err != nil {
			return fmt.Errorf("topic %s: the bag's definition of %s cannot be read: %w", t.Name, t.Type, err)
		}
		if hash, err := theirs.Hash(t.Type); err == nil && hash == known.Hash {
			return nil
		}
		ours, err := msggen.ParseDefinition(t.Type, t.Type, known.Definition())
		if err != nil {
			return err
		}
		return fmt.Errorf("topic %s: the bag's definition of %s is another one: %s", t.Name, t.Type,
			difference(theirs, ours))
	}
	if t.TypeHash != "" {
		return fmt.Errorf("topic %s: the bag's definition of %s is another one: type hash %s, expected %s", t.Name,
			t.Type, t.TypeHash, known.Hash)
	}
	return nil
}

// difference is the first one in words.
func difference(theirs, ours *msggen.Set) string {
	for _, m := range ours.Messages() {
		t := theirs.Message(m.Name)
		if t == nil {
			return fmt.Sprintf("it has no %s", m.Name)
		}
		for i := range max(len(m.Fields), len(t.Fields)) {
			switch {
			case i >= len(m.Fields):
				return fmt.Sprintf("%s has a field %s too many", m.Name, t.Fields[i].Name)
			case i >= len(t.Fields):
				return fmt.Sprintf("%s has no field %s", m.Name, m.Fields[i].Name)
			case t.Fields[i].Name != m.Fields[i].Name:
				return fmt.Sprintf("field %d of %s is %s, expected %s", i+1, m.Name, t.Fields[i].Name, m.Fields[i].Name)
			case t.Fields[i].Type != m.Fields[i].Type:
				return fmt.Sprintf("field %s of %s is %v, expected %v", m.Fields[i].Name, m.Name, t.Fields[i].Type,
					m.Fields[i].Type)
			}
		}
	}
	return "it refers to other types"
}
