package replay

import (
	"fmt"
	"slices"
	"strings"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/node/controller"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/vnd/bundle"
)

// recorded is what a bag holds of a flight.
type recorded struct {
	params  *controller.File
	bundles map[string]*bundle.Bundle
	samples []control.Sample // as they came
	steps   []msgs.Step
	latents map[int64]msgs.Latent // by stamp
	names   struct{ state, step, latent, bundle string }
	unread  int // messages that could not be decoded
}

// read reads a bag. The parameters are those of the controller in the namespace of the topic step; file may be empty.
func read(path, file string, bundles []string) (*recorded, error) {
	path = bag.Root(path)
	b, err := bag.Open(path)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	r := &recorded{bundles: map[string]*bundle.Bundle{}, latents: map[int64]msgs.Latent{}}
	if err := r.prepare(b.Topics(), file); err != nil {
		return nil, fmt.Errorf("bag %s: %w", path, err)
	}
	for _, name := range bundles {
		x, err := bundle.Read(name)
		if err != nil {
			return nil, err
		}
		r.bundles[x.ID] = x
	}
	if err := r.messages(b); err != nil && strings.HasPrefix(err.Error(), "bag "+path) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("bag %s: %w", path, err)
	}
	return r, nil
}

// prepare finds the topics.
func (r *recorded) prepare(topics []bag.Topic, file string) error {
	var steps []string
	for _, t := range topics {
		if t.Type == bridge.TypeStep {
			steps = append(steps, t.Name)
		}
	}
	switch len(steps) {
	case 0:
		return fmt.Errorf("no topic of type %s: a bag of transition_recorder has one", bridge.TypeStep)
	case 1:
	default:
		return fmt.Errorf("topics of type %s: %s; expected one", bridge.TypeStep, strings.Join(steps, " "))
	}
	space := strings.TrimSuffix(steps[0], "/step")
	var err error
	if r.params, err = controller.ReadFile(file, space+"/"+controller.Name, ""); err != nil {
		return err
	}
	state, typeName := r.params.StateTopic()
	r.names.step, r.names.latent, r.names.bundle, r.names.state = steps[0], space+"/latent", space+"/bundle", state
	if !strings.HasPrefix(state, "/") {
		r.names.state = space + "/" + state
	}
	i := slices.IndexFunc(topics, func(t bag.Topic) bool { return t.Name == r.names.state })
	if i < 0 || topics[i].Type != typeName {
		return fmt.Errorf("topic %s of type %s is not there, which the parameter state_source %s takes", r.names.state,
			typeName, r.params.Source)
	}
	return nil
}

// messages reads them, in the order in which they were recorded.
func (r *recorded) messages(b *bag.Reader) error {
	_, typeName := r.params.StateTopic()
	poses, err := bridge.NewPoseDecoder(r.names.state, typeName, r.params.PoseOptions())
	if err != nil {
		return err
	}
	var there []string // not every bag has latents and bundles
	for _, t := range b.Topics() {
		if slices.Contains([]string{r.names.state, r.names.step, r.names.latent, r.names.bundle}, t.Name) {
			there = append(there, t.Name)
		}
	}
	for m, err := range b.Messages(there...) {
		if err != nil {
			return err
		}
		if r.message(m, poses) != nil {
			r.unread++
		}
	}
	return r.enough()
}

func (r *recorded) message(m *bag.Message, poses *bridge.PoseDecoder) error {
	switch m.Topic {
	case r.names.state:
		p, found, err := poses.Decode(m.Data)
		if err == nil && found {
			r.samples = append(r.samples, control.Sample{Stamp: p.Stamp, State: p.State, HasVelocity: p.HasVelocity})
		}
		return err
	case r.names.step:
		var s msgs.Step
		if err := cdr.Unmarshal(m.Data, &s); err != nil {
			return err
		}
		r.steps = append(r.steps, s)
	case r.names.latent:
		var z msgs.Latent
		if err := cdr.Unmarshal(m.Data, &z); err != nil {
			return err
		}
		r.latents[bridge.Nanoseconds(z.Header.Stamp)] = z
	case r.names.bundle:
		var m2 msgs.Bundle
		if err := cdr.Unmarshal(m.Data, &m2); err != nil {
			return err
		}
		x, err := node.Unpack(&m2)
		if err != nil {
			return err
		}
		r.bundles[x.ID] = x
	}
	return nil
}

// enough sees to it that there is something to replay.
func (r *recorded) enough() error {
	if len(r.steps) < 2 {
		return fmt.Errorf("topic %s: %d steps, expected at least two", r.names.step, len(r.steps))
	}
	for i := range r.steps {
		if id := r.steps[i].BundleID; r.bundles[id] == nil {
			return fmt.Errorf("bundle %s flew, and is neither on topic %s nor among the files given (--bundle)", id,
				r.names.bundle)
		}
	}
	var apart []int64
	for i := 1; i < len(r.steps); i++ {
		if a, b := &r.steps[i-1], &r.steps[i]; b.Seq == a.Seq+1 {
			apart = append(apart, bridge.Nanoseconds(b.Header.Stamp)-bridge.Nanoseconds(a.Header.Stamp))
		}
	}
	if len(apart) == 0 {
		return nil
	}
	slices.Sort(apart)
	const slack = 0.2
	if rate := 1e9 / float64(max(apart[len(apart)/2], 1)); rate < r.params.Rate*(1-slack) ||
		rate > r.params.Rate*(1+slack) {
		return fmt.Errorf("topic %s: steps came at %.4g Hz, and the parameter rate of %s is %g (--config)",
			r.names.step, rate, controller.Name, r.params.Rate)
	}
	return nil
}
