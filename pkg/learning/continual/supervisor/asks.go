package supervisor

import (
	"context"
	"errors"

	"vnd/pkg/learning/continual"
)

// do has Run do something, and waits for it.
func (l *Learner) do(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case l.asks <- func() { f(); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return errors.New("the learner has ended, or is too busy to answer")
	}
}

// Segment takes a segment that was announced. What is wrong with it is told to the log.
func (l *Learner) Segment(ctx context.Context, a Announced) error {
	return l.do(ctx, func() { l.take(&a) })
}

// Tick takes a tick of the controller. It never waits: where the learner is busy the tick is left out.
func (l *Learner) Tick(t Tick) bool {
	select {
	case l.ticks <- t:
		return true
	default:
		return false
	}
}

// TrainNow has a round begin, whether or not there is enough that is new.
func (l *Learner) TrainNow(ctx context.Context) (line string, err error) {
	failed := l.do(ctx, func() {
		switch {
		case l.paused:
			err = errors.New("learning is paused: call ~/pause with false")
		case l.job != nil:
			line = "learning is at work already"
		default:
			l.asked, l.gaveUp = true, false
			line = "learning begins"
		}
	})
	return line, errors.Join(failed, err)
}

// Pause lets no round begin, and ends the one at work, whose data wait for the next; or lets them begin again.
func (l *Learner) Pause(ctx context.Context, pause bool) (line string, err error) {
	err = l.do(ctx, func() {
		l.paused = pause
		if pause && l.job != nil {
			l.job.cancel()
		}
		line = "learning goes on"
		if pause {
			line = "learning is paused"
		}
		l.settle(line)
	})
	return line, err
}

// Rollback returns to the newest bundle before the present one that flew safely or, where there is none, to the one before.
func (l *Learner) Rollback(ctx context.Context) (line string, err error) {
	failed := l.do(ctx, func() { line, err = l.takeBack("asked to", true) })
	return line, errors.Join(failed, err)
}

// Status now.
func (l *Learner) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// progress is what a job tells of itself.
func (l *Learner) progress(s continual.Status) {
	if s.Phase == continual.Idle {
		return // the outcome says more
	}
	l.change(func(t *Status) { t.Phase, t.Share, t.Loss = s.Phase, s.Share, s.Loss })
}

// change changes the status and tells it.
func (l *Learner) change(f func(*Status)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.status)
	l.opt.Tell(l.status)
}

// say changes phase and message; an empty message leaves the last one.
func (l *Learner) say(p continual.Phase, message string) {
	bundle := ""
	if b := l.shelf.Current(); b != nil {
		bundle = b.ID
	}
	l.stale = false
	l.change(func(s *Status) {
		s.Phase, s.Share, s.Rows, s.Bundle = p, 0, l.rows, bundle
		if message != "" {
			s.Message = message
		}
	})
}

// show tells of rows that came.
func (l *Learner) show() {
	if l.stale {
		l.stale = false
		l.change(func(s *Status) { s.Rows = l.rows })
	}
}

// settle says that nothing is at work, unless something is.
func (l *Learner) settle(message string) {
	switch {
	case l.job != nil:
		l.change(func(s *Status) {
			if b := l.shelf.Current(); b != nil {
				s.Bundle = b.ID
			}
			s.Message = message
		})
	case l.paused:
		l.say(Paused, message)
	default:
		l.say(Waiting, message)
	}
}

// fail tells what went wrong.
func (l *Learner) fail(line string) {
	l.log(true, line)
	l.settle(line)
}

func (l *Learner) log(bad bool, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opt.Log(bad, line)
}
