package rounds

import (
	"context"
	"errors"
)

// Ending is what came of a round.
type Ending struct {
	Promoted bool   // its bundle flies
	Line     string // which bundle follows, or why none does
}

// asker waits for the end of a round. A nil one waits for none.
type asker struct {
	ctx   context.Context
	ended chan answer // holds one
}

type answer struct {
	Ending
	err error
}

func (a *asker) waits() bool { return a != nil && a.ctx.Err() == nil }

func (a *asker) report(e Ending, err error) {
	if a != nil {
		a.ended <- answer{e, err}
	}
}

// Learn has a round begin that knows all that was flown until now, and waits for its end. A round that could not be, or
// was ended, is an error. Where ctx is done before, the round ends too, and its data wait for the next.
func (l *Runner[S]) Learn(ctx context.Context) (e Ending, err error) {
	a := &asker{ctx, make(chan answer, 1)}
	failed := l.do(ctx, func() {
		switch {
		case l.paused:
			err = errPaused
		case l.asker.waits():
			err = errors.New("a round was asked for before, and is to come")
		default:
			l.asker, l.gaveUp = a, false
		}
	})
	if err := errors.Join(failed, err); err != nil {
		return Ending{}, err
	}
	select {
	case e := <-a.ended:
		return e.Ending, e.err
	case <-ctx.Done():
		return Ending{}, context.Cause(ctx)
	}
}

var (
	errPaused = errors.New("learning is paused: call ~/pause with false")
	errEnded  = errors.New("the round was ended before its time")
)

// answer tells whoever waits for the next round that there is none.
func (l *Runner[S]) answer(why error) {
	l.asker.report(Ending{}, why)
	l.asker = nil
}

// heed has a round be that of who waits for one, and end where that one does not wait any more.
func (l *Runner[S]) heed() {
	if l.job.asker, l.asker = l.asker, nil; l.job.asker != nil {
		context.AfterFunc(l.job.asker.ctx, l.job.cancel)
	}
}

// ending is what came of a round, once it was taken in.
func (l *Runner[S]) ending(j *job, o *outcome) (Ending, error) {
	line := l.Status().Message
	switch {
	case j.void || errors.Is(o.err, context.Canceled):
		return Ending{}, errEnded
	case o.err != nil:
		return Ending{}, errors.New(line)
	}
	return Ending{o.round != nil && o.round.ID == l.bundles.Current().ID, line}, nil
}
