package ros

import (
	"sync"

	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/params"
)

// useSimTime is the parameter that makes a node's clock follow /clock.
const useSimTime = "use_sim_time"

// timeSource switches a node's clock by use_sim_time.
type timeSource struct {
	n *Node

	mu    sync.Mutex
	clock *Subscription[rosgraphmsgs.Clock] // nil while use_sim_time is false
}

// startTime declares use_sim_time and follows it.
func (n *Node) startTime() error {
	s := &timeSource{n: n}
	_, err := n.parameters.Declare(useSimTime, false,
		params.Descriptor{Description: "follow /clock instead of the system's time"})
	if err != nil {
		return err
	}
	on, err := params.Get[bool](n.parameters, useSimTime)
	if err != nil {
		return err
	}
	n.parameters.AfterSet(func(set []params.Parameter) {
		for _, p := range set {
			if on, ok := p.Value.(bool); ok && p.Name == useSimTime {
				if err := s.follow(on); err != nil {
					n.log.Error().Msgf("%v", err)
				}
			}
		}
	})
	return s.follow(on)
}

func (s *timeSource) follow(on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on == (s.clock != nil) {
		return nil
	}
	s.n.clock.simulate(on)
	var err error
	if on {
		s.clock, err = NewSubscription(s.n, "/clock", rmw.ClockQoS(), func(m *rosgraphmsgs.Clock, _ Info) {
			s.n.clock.set(TimeOf(m.Clock))
		}, InGroup(s.n.internal))
	} else {
		err = s.clock.Close()
		s.clock = nil
	}
	return err
}
