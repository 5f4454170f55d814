package rounds

import (
	"context"
	"errors"

	"vnd/pkg/learning/continual"
)

// do has Run do something, and waits for it.
func (l *Runner[S]) do(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case l.requests <- func() { f(); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return errors.New("the learner has ended, or is too busy to answer")
	}
}

// Tick takes a tick of the controller. It never waits: where the learner is busy the tick is left out.
func (l *Runner[S]) Tick(t ControllerTick) bool {
	select {
	case l.ticks <- t:
		return true
	default:
		return false
	}
}

// TrainNow has a round begin, whether or not there is enough that is new.
func (l *Runner[S]) TrainNow(ctx context.Context) (line string, err error) {
	failed := l.do(ctx, func() {
		switch {
		case l.paused:
			err = errPaused
		case l.job != nil:
			line = "learning is at work already"
		default:
			l.requested, l.gaveUp = true, false
			line = "learning begins"
		}
	})
	return line, errors.Join(failed, err)
}

// Pause lets no round begin, and ends the one at work, whose data wait for the next; or lets them begin again.
func (l *Runner[S]) Pause(ctx context.Context, pause bool) (line string, err error) {
	err = l.do(ctx, func() {
		l.paused = pause
		if pause {
			l.answer(errPaused)
			if l.job != nil {
				l.job.cancel()
			}
		}
		line = "learning goes on"
		if pause {
			line = "learning is paused"
		}
		l.settle(line)
	})
	return line, err
}

// Rollback returns to the newest bundle before the present one that flew safely or, where there is none, to the one
// before.
func (l *Runner[S]) Rollback(ctx context.Context) (line string, err error) {
	failed := l.do(ctx, func() { line, err = l.takeBack("asked to", true) })
	return line, errors.Join(failed, err)
}

// Status now.
func (l *Runner[S]) Status() continual.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// progress is what a job reports.
func (l *Runner[S]) progress(s continual.Status) {
	if s.Phase == continual.Idle {
		return // the outcome says more
	}
	l.change(func(t *continual.Status) {
		t.Phase, t.Share, t.Loss, t.Validation = s.Phase, s.Share, s.Loss, s.Validation
	})
}

// change changes the status and reports it.
func (l *Runner[S]) change(f func(*continual.Status)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.status)
	l.opt.Report(l.status)
}

// say changes phase and message; an empty message leaves the last one.
func (l *Runner[S]) say(p continual.Phase, message string) {
	bundle := ""
	if b := l.bundles.Current(); b != nil {
		bundle = b.ID
	}
	l.stale = false
	l.change(func(s *continual.Status) {
		s.Phase, s.Share, s.Rows, s.BundleID = p, 0, l.rows, bundle
		if message != "" {
			s.Message = message
		}
	})
}

// show reports rows that came.
func (l *Runner[S]) show() {
	if l.stale {
		l.stale = false
		l.change(func(s *continual.Status) { s.Rows = l.rows })
	}
}

// settle says that nothing is at work, unless something is.
func (l *Runner[S]) settle(message string) {
	switch {
	case l.job != nil:
		l.change(func(s *continual.Status) {
			if b := l.bundles.Current(); b != nil {
				s.BundleID = b.ID
			}
			s.Message = message
		})
	case l.paused:
		l.say(Paused, message)
	default:
		l.say(Waiting, message)
	}
}

// fail reports what went wrong.
func (l *Runner[S]) fail(line string) {
	l.log(true, line)
	l.settle(line)
}

func (l *Runner[S]) log(bad bool, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opt.Log(bad, line)
}
