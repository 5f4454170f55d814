package action

import "vnd/pkg/ros2/ros"

// MaxWaiting is the most requests for results that wait.
const MaxWaiting = maxWaiting

// Ask asks for a goal as a request does.
func (s *Server[G, R, F]) Ask(id ID, q *G) (accepted bool) {
	s.accept(id, q, func(ok bool, _ ros.Time) { accepted = ok })
	return accepted
}

// Await asks for a result as a request does.
func (s *Server[G, R, F]) Await(id ID, answer func(Status, *R)) { s.await(id, answer) }
