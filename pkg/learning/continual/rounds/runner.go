package rounds

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/vnd/bundle"
	"vnd/pkg/vnd/bundle/store"
)

// Runner runs rounds of learning in the background, of a robot with segments S. Its methods may be called from any
// goroutine; what they begin is done by Run.
type Runner[S any] struct {
	cfg      func() Settings
	opt      Common
	robot    Robot[S]
	bundles  *store.Store
	requests chan func()
	ticks    chan ControllerTick
	ended    chan outcome

	mu     sync.Mutex // of status, and of opt's functions
	status continual.Status

	// Of Run.
	learner    Learner[S] // nil before the first bundle
	generation uint64     // of learners
	built      Settings   // of the learner
	segments   []held[S]
	rows       int    // in memory
	fresh      int    // of them not learned from
	stale      bool   // the status does not show all rows
	requested  bool   // for a round
	asker      *asker // who waits for the next one; nil: nobody
	paused     bool
	job        *job
	gaveUp     bool              // making the first bundle, or finding one on disk; until the next request
	judgedNow  map[string]bool   // bundles that passed the gate since the start
	watches    map[string]*watch // by robot; nil: flights are not compared
	misfit     string            // that the newest round found
}

// job is a round, or the making of the first bundle, on a goroutine of its own.
type job struct {
	cancel  context.CancelFunc
	void    bool // its outcome does not count any more
	asker   *asker
	fresh   int // rows that it takes in
	digests []string
}

// outcome of a job.
type outcome struct {
	first *bundle.Bundle
	round *continual.Round
	found *gate.Verdict // on the bundle that was on disk
	err   error
}

// New opens the bundles on disk. cfg gives the present settings.
func New[S any](cfg func() Settings, opt Common, r Robot[S]) (*Runner[S], error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if len(opt.Robots) == 0 {
		opt.Robots = []string{""}
	}
	if opt.Report == nil {
		opt.Report = func(continual.Status) {}
	}
	if opt.Log == nil {
		opt.Log = func(bool, string) {}
	}
	s, notes, err := store.Open(opt.Dir, cfg().schedule().Keep, opt.Now)
	if err != nil {
		return nil, err
	}
	if b := s.Current(); b != nil && (b.Robot != r.Name || b.Dt != opt.Dt) {
		s.Close()
		return nil, fmt.Errorf("bundles in %s: bundle %s is of robot %q at Δt = %g s, expected %q at %g", opt.Dir, b.ID,
			b.Robot, b.Dt, r.Name, opt.Dt)
	}
	s.SignWith(opt.Key)
	l := &Runner[S]{cfg: cfg, opt: opt, robot: r, bundles: s, requests: make(chan func()),
		ticks: make(chan ControllerTick, 1000*len(opt.Robots)), ended: make(chan outcome, 1),
		judgedNow: map[string]bool{}}
	l.status = continual.Status{Phase: Waiting, Loss: math.NaN(), Validation: math.NaN()}
	for _, line := range notes {
		l.log(true, line)
	}
	return l, nil
}

// Run learns until ctx is done, then waits for what is at work. The error is of the disk or of the configuration.
func (l *Runner[S]) Run(ctx context.Context) error {
	defer l.bundles.Close()
	defer l.stop()
	if l.bundles.Current() != nil {
		if err := l.begin(); err != nil {
			return err
		}
	}
	for {
		if err := l.next(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case do := <-l.requests:
			do()
		case t := <-l.ticks:
			l.tick(&t)
		case o := <-l.ended:
			l.end(o)
		}
	}
}

// stop ends the job.
func (l *Runner[S]) stop() {
	if l.job != nil {
		l.job.cancel()
		<-l.ended
	}
}

// next begins what is due.
func (l *Runner[S]) next(ctx context.Context) error {
	if l.job != nil || l.paused {
		l.show()
		return nil
	}
	if l.bundles.Current() == nil {
		if !l.gaveUp {
			l.start(ctx, BasePolicy, l.basePolicy)
		}
		return nil
	}
	l.bound()
	if now := l.bundles.Current(); !l.judgedNow[now.ID] { // found on disk
		if !l.gaveUp {
			l.start(ctx, Rejudging, func(ctx context.Context) outcome {
				v, err := l.again(ctx, now)
				return outcome{found: v, err: err}
			})
		}
		return nil
	}
	asked := l.requested || l.asker.waits()
	switch enough := l.flown() >= l.cfg().Needs().Least; {
	case asked && !enough:
		l.requested = false
		line := fmt.Sprintf("too little was flown: %.0f s, a model takes %.0f", l.flown(), l.cfg().Needs().Least)
		l.say(Waiting, line)
		l.answer(errors.New(line))
	case asked || l.fresh >= l.cfg().schedule().NewRows && enough:
		l.requested = false
		if l.cfg() != l.built { // parameters were set
			if err := l.begin(); err != nil {
				return err
			}
		}
		l.start(ctx, continual.Fitting, l.round)
		l.heed()
	}
	l.show()
	return nil
}

// start begins a job.
func (l *Runner[S]) start(ctx context.Context, phase continual.Phase, do func(context.Context) outcome) {
	ctx, cancel := context.WithCancel(ctx)
	l.job = &job{cancel: cancel, fresh: l.fresh}
	for i := range l.segments {
		l.job.digests = append(l.job.digests, l.segments[i].digest)
	}
	l.say(phase, "")
	go func() {
		defer cancel()
		l.ended <- do(ctx)
	}()
}

// basePolicy makes the first bundle, which has to pass the gate too.
func (l *Runner[S]) basePolicy(ctx context.Context) outcome {
	status := continual.Status{Phase: BasePolicy, Validation: math.NaN()}
	b, err := l.opt.BasePolicy(ctx, func(p train.Progress) {
		status.Share, status.Loss = float64(p.Epoch)/float64(p.Epochs), p.Figures.Cost
		l.progress(status)
	})
	if err != nil {
		return outcome{err: err}
	}
	if _, err := b.Encode(); err != nil { // which names it
		return outcome{err: err}
	}
	l.progress(continual.Status{Phase: continual.Gating, Validation: math.NaN()})
	v, err := l.robot.Gate().Evaluate(ctx, b, nil, nil)
	if err == nil && !v.Pass {
		err = fmt.Errorf("bundle %s is refused: %s", b.ID, reasons(v))
	}
	if err == nil && b.Dt != l.opt.Dt {
		err = fmt.Errorf("bundle %s is at Δt = %g s, expected %g", b.ID, b.Dt, l.opt.Dt)
	}
	return outcome{first: b, err: err}
}

// again judges a bundle that was on disk at the start: whoever may write there may have put it there.
func (l *Runner[S]) again(ctx context.Context, b *bundle.Bundle) (*gate.Verdict, error) {
	return l.robot.Gate().Reevaluate(ctx, b)
}

// found takes in the verdict on the bundle that was on disk. One that is refused gives way to the one before it, which
// is judged next.
func (l *Runner[S]) found(v *gate.Verdict, err error) {
	b := l.bundles.Current()
	switch {
	case err != nil:
		l.gaveUp = true
		l.fail(fmt.Sprintf("bundle %s cannot be judged: %v", b.ID, err))
		return
	case v.Pass:
		l.judgedNow[b.ID] = true
		l.publish(b, fmt.Sprintf("bundle %s flies, as it did before", b.ID))
		return
	}
	why := "judged again at the start and refused: " + reasons(v)
	older, err := l.bundles.RollBack(why, false)
	if err != nil {
		l.gaveUp = true
		l.fail(err.Error())
		return
	}
	l.fail(fmt.Sprintf("bundle %s is %s", b.ID, why))
	l.learner.Return(older)
}

func (l *Runner[S]) round(ctx context.Context) outcome {
	r, err := l.learner.Round(ctx)
	return outcome{round: r, err: err}
}

// end takes in what a job came to.
func (l *Runner[S]) end(o outcome) {
	j := l.job
	l.job = nil
	switch {
	case j.void || errors.Is(o.err, context.Canceled):
		l.settle("")
	case o.found != nil:
		l.found(o.found, o.err)
	case o.err != nil && l.learner == nil:
		l.gaveUp = true
		l.fail(fmt.Sprintf("there is no first bundle: %v", o.err))
	case errors.Is(o.err, continual.ErrNotEnoughGood):
		l.fresh -= j.fresh
		l.log(true, o.err.Error())
		l.say(NotEnough, o.err.Error())
	case o.err != nil:
		l.fresh -= j.fresh
		l.fail(fmt.Sprintf("the round failed: %v", o.err))
	case o.first != nil:
		l.promote(o.first, fmt.Sprintf("bundle %s is the first", o.first.ID))
	default:
		l.judged(j, o.round)
	}
	if l.learner != nil {
		l.learner.Return(l.bundles.Current()) // whatever the round thought
	}
	j.asker.report(l.ending(j, &o))
	if l.gaveUp {
		l.answer(errors.New(l.Status().Message))
	}
}

// judged takes in a round that came to its end.
func (l *Runner[S]) judged(j *job, r *continual.Round) {
	l.fresh -= j.fresh
	if err := l.bundles.Learn(j.digests...); err != nil {
		l.log(true, err.Error())
	}
	if r.Outlook != "" {
		l.log(false, r.Outlook)
	}
	if r.Misfit != "" && r.Misfit != l.misfit { // once, for all rounds find it
		l.log(true, r.Misfit)
	}
	l.misfit = r.Misfit
	if r.Sooner > 0 {
		l.log(false, fmt.Sprintf("round %d: the gate's robot answers %.0f ms sooner than identified: bundle %s errs "+
			"less in flight than there", r.Number, 1000*r.Sooner, r.Parent))
	}
	if !r.Verdict.Pass {
		line := fmt.Sprintf("round %d on %d rows: bundle %s is refused: %s", r.Number, r.Rows, r.ID, reasons(r.Verdict))
		l.log(false, line) // the gate's work, no failure
		l.settle(line)
		return
	}
	l.promote(r.Candidate, fmt.Sprintf("round %d on %d rows: bundle %s follows %s", r.Number, r.Rows, r.ID, r.Parent))
}

func reasons(v *gate.Verdict) (text string) {
	for i, r := range v.Reasons() {
		if i > 0 {
			text += "; "
		}
		text += r
	}
	return text
}

// promote keeps a bundle and has it fly.
func (l *Runner[S]) promote(b *bundle.Bundle, line string) {
	l.judgedNow[b.ID] = true
	if err := l.bundles.Promote(b); err != nil {
		l.gaveUp = l.bundles.Current() == nil
		l.fail(err.Error())
		return
	}
	if l.learner == nil {
		if err := l.begin(); err != nil {
			l.fail(err.Error())
			return
		}
	}
	l.watchAnew()
	l.publish(b, line)
}

// publish issues and publishes a bundle.
func (l *Runner[S]) publish(b *bundle.Bundle, line string) {
	data, err := l.bundles.Issue(b)
	if err != nil {
		l.fail(fmt.Sprintf("bundle %s cannot be published: %v", b.ID, err))
		return
	}
	l.mu.Lock()
	l.opt.Publish(b, data)
	l.mu.Unlock()
	l.log(false, line)
	l.settle(line)
}

// takeBack returns to an older bundle. One that was not judged since the start is judged now: it takes some seconds,
// for which what flies flies on.
func (l *Runner[S]) takeBack(why string, safely bool) (string, error) {
	now := l.bundles.Current()
	older, err := l.bundles.RollBack(why, safely)
	if err != nil {
		return "", err
	}
	if l.job != nil { // it began with the bundle that was taken back
		l.job.void = true
		l.job.cancel()
	}
	l.learner.Return(older)
	if !l.judgedNow[older.ID] {
		v, err := l.again(context.Background(), older)
		if err == nil && !v.Pass {
			err = errors.New(reasons(v))
		}
		if err != nil {
			return "", fmt.Errorf("bundle %s is taken back, and %s is refused: %w", now.ID, older.ID, err)
		}
		l.judgedNow[older.ID] = true
	}
	l.watchAnew()
	line := fmt.Sprintf("bundle %s is taken back, %s flies again: %s", now.ID, older.ID, why)
	l.publish(older, line)
	return line, nil
}
