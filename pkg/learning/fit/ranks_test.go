package fit

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/pkg/core/dist"
	"vnd/pkg/core/dist/disttest"
)

// many is a fit whose batches have four shards, with validation flights that stop it early.
func many() Config {
	cfg := quick()
	cfg.Train.Batch, cfg.Train.Updates, cfg.Train.Minutes, cfg.Train.Workers = 2*tile, 16, 1e4, 1
	cfg.Train.Rate, cfg.Train.Patience = .1, .3
	return cfg
}

// outcome is all of a fit that must not depend on who did it.
type outcome struct {
	fit *Fit
	err error
}

func (o outcome) sameAs(t *testing.T, what string, want outcome) {
	t.Helper()
	if o.err != nil || want.err != nil {
		t.Fatalf("%s: %v, %v", what, o.err, want.err)
	}
	a, b := o.fit, want.fit
	if !slices.Equal(a.Model.Net.Params, b.Model.Net.Params) ||
		!slices.Equal(a.Model.ResidualScale, b.Model.ResidualScale) ||
		!reflect.DeepEqual(a.Model.LatentPrior, b.Model.LatentPrior) {
		t.Errorf("%s makes another model", what)
	}
	if a.Metrics.Losses != b.Metrics.Losses || a.Metrics.Validation != b.Metrics.Validation ||
		a.Metrics.BestUpdate != b.Metrics.BestUpdate ||
		a.Metrics.Updates != b.Metrics.Updates || a.Metrics.Stopped != b.Metrics.Stopped {
		t.Errorf("%s has other figures: %+v, %+v", what, a.Metrics, b.Metrics)
	}
}

// A fit makes the same bytes with any number of threads, and of processes, whose clocks tell different times. By that
// of rank 0 a checkpoint is due after every other update.
func TestSameForAnyNumberOfWorkersAndRanks(t *testing.T) {
	data := recorded(5, 100)
	run := func(workers int, g dist.Group, checkpoint string) outcome {
		cfg := many()
		cfg.Train.Workers = workers
		now := time.Unix(0, 0)
		clock := func() time.Time { now = now.Add(time.Duration(10+3*g.Rank()) * time.Second); return now }
		fit, err := Run(context.Background(), cfg, flown(data),
			Options{Seed: 3, Ranks: g, Now: clock, Checkpoint: checkpoint})
		return outcome{fit, err}
	}
	one := run(1, dist.Solo{}, "")
	if !one.fit.Metrics.Stopped || one.fit.Metrics.BestUpdate == 0 {
		t.Errorf("validation does not stop the fit: %+v", one.fit.Metrics)
	}
	run(3, dist.Solo{}, "").sameAs(t, "a fit with three threads", one)
	for _, n := range []int{2, 3} {
		path := filepath.Join(t.TempDir(), "b.checkpoint")
		for _, o := range disttest.Run(n, func(g dist.Group) outcome { return run(2, g, path) }) {
			o.sameAs(t, "a fit with several ranks", one)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%d ranks: no checkpoint was written: %v", n, err)
		}
	}
}

// Where one of the ranks is told to end, all end after the same update; another number of ranks goes on from there to
// the same bytes.
func TestRanksEndTogether(t *testing.T) {
	data, path := recorded(5, 100), filepath.Join(t.TempDir(), "b.checkpoint")
	cfg := many()
	whole, err := Run(context.Background(), cfg, flown(data), Options{Seed: 3})
	want := outcome{whole, err}
	const n, last = 3, 5
	for rank, err := range disttest.Run(n, func(g dist.Group) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		opt := Options{Seed: 3, Ranks: g, Checkpoint: path, Progress: func(p Progress) {
			if p.Update > last {
				t.Errorf("rank %d goes on to update %d", g.Rank(), p.Update)
			}
			if g.Rank() == 1 && p.Update == last {
				cancel()
			}
		}}
		_, err := Run(ctx, cfg, flown(data), opt)
		return err
	}) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
	for _, o := range disttest.Run(2, func(g dist.Group) outcome {
		fit, err := Run(context.Background(), cfg, flown(data), Options{Seed: 3, Ranks: g, Checkpoint: path})
		return outcome{fit, err}
	}) {
		o.sameAs(t, "a fit gone on with", want)
	}
}

// What is wrong on one rank ends all, and is said on all.
func TestRanksRefuseTogether(t *testing.T) {
	data := recorded(5, 100)
	for want, odd := range map[string]func(cfg *Config, seed *uint64){
		"rank 1: parameter \"train.horizon\" is empty": func(cfg *Config, _ *uint64) { cfg.Train.Horizon = nil },
		"rank 1 does other work than rank 0":           func(_ *Config, seed *uint64) { *seed = 4 },
	} {
		errs := disttest.Run(2, func(g dist.Group) error {
			cfg, seed := many(), uint64(3)
			if g.Rank() == 1 {
				odd(&cfg, &seed)
			}
			_, err := Run(context.Background(), cfg, flown(data), Options{Seed: seed, Ranks: g})
			return err
		})
		if errs[0] == nil || errs[1] == nil || !strings.Contains(errs[0].Error(), want) {
			t.Errorf("%v, want %q", errs, want)
		}
	}
}

// A batch is cut into shards of its own size's making, and all of it.
func TestPieces(t *testing.T) {
	for batch, want := range map[int]int{2: 1, 32: 1, 64: 2, 100: 3, 128: 4, 300: 4, 512: 8, 2048: 16, 65536: 16} {
		if got := shardCount(batch); got != want {
			t.Errorf("a batch of %d has %d shards, want %d", batch, got, want)
		}
	}
	cfg := quick()
	cfg.Train.Batch = 131
	tr, err := newTrainer(&cfg, vehicleWith(4, 100), Options{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	tr.draw(.5)
	if _, err := tr.pool.gradients(&tr.batch, tr.grad); err != nil {
		t.Fatal(err)
	}
	next := 0
	for _, p := range tr.pool.shards {
		if p.lo != next || p.hi <= p.lo || p.hi-p.lo > tr.pool.rows {
			t.Errorf("a shard of contexts %d to %d after %d", p.lo, p.hi, next)
		}
		next = p.hi
	}
	if next != 131 || math.IsNaN(float64(tr.grad[0])) {
		t.Errorf("shards end at %d of 131", next)
	}
}
