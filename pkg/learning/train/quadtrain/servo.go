package quadtrain

import "vnd/pkg/flight/policy"

// What follows is of a policy that is given no state (policy.Camera.StateFree).

// remember makes the buffers.
func (s *cameraModel[F]) remember(maxB, maxH int) {
	see := policy.Observation{PreviewPoints: 1, PastActions: 1, Camera: *s.camera}
	s.width = see.Shown()
	s.headings, s.shown = make([]F, 2*maxB), make([]F, maxH*maxB*s.width)
	s.dshown = make([]F, maxB*s.width)
	s.errors, s.derrors = make([]F, maxH*maxB*policy.ErrorSize), make([]F, maxH*maxB*policy.ErrorSize)
}

// frames returns the step of the newest frame that serves step h, those of the earlier ones, and the times between, s.
func (s *cameraModel[F]) frames(h int) (now int, was [policy.Spans]int, apart [policy.Spans]float64) {
	now = max(h-s.camera.Delay, 0)
	for k := range was {
		was[k] = max(now-policy.SpanSteps(k+1), 0)
		apart[k] = float64(now-was[k]) * s.dt
	}
	return now, was, apart
}

// of returns the image error of robot b at a step out of errors or derrors.
func (s *cameraModel[F]) of(errors []F, step, b int) []F {
	return errors[(step*s.B+b)*policy.ErrorSize:][:policy.ErrorSize]
}

// before are the image errors, or their gradients, of robot b at earlier steps.
func (s *cameraModel[F]) before(errors []F, was *[policy.Spans]int, b int) (earlier [policy.Spans][]F) {
	for k, step := range was {
		earlier[k] = s.of(errors, step, b)
	}
	return earlier
}

// show writes what the policy sees at step h. A step is shown after those before it.
func (s *cameraModel[F]) show(h int) {
	if s.headings == nil {
		return
	}
	now, was, apart := s.frames(h)
	for b := range s.B {
		policy.Show(s.of(s.errors, now, b), s.before(s.errors, &was, b), apart, s.shown[(h*s.B+b)*s.width:][:s.width])
	}
}

// pullShown pulls the gradient of what was shown at step h back to the frames, and clears it. A step is pulled before
// those before it.
func (s *cameraModel[F]) pullShown(h int) {
	if s.headings == nil {
		return
	}
	now, was, apart := s.frames(h)
	for b := range s.B {
		de, dx := s.of(s.derrors, now, b), s.dshown[b*s.width:][:s.width]
		policy.ShowVJP(s.shown[(h*s.B+b)*s.width:][:s.width], dx, de, s.before(s.derrors, &was, b), apart)
		clear(dx)
	}
}
