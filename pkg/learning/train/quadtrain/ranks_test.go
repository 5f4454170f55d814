package quadtrain

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
	"vnd/pkg/learning/train"
)

// together is a training, small but with several tiles, trial flights and all that comes before it.
func together(t *testing.T) (Config, Options) {
	c := small(t)
	c.Envs, c.Epochs, c.Flights, c.Workers = 150, 6, 3, 1
	c.Observation.Camera = camera()
	c.Pretrain.Epochs, c.Pretrain.Teacher = 2, 2
	k := tasksAlong(circle)
	trials := trials(nominal(), k, 4)
	trials.Steps = 20
	return c, Options{Seed: 5, Tasks: k, Limits: limits(), Fly: trials.Fly}
}

// TestSameForAnyNumberOfRanks: several processes make the bytes and the figures of
// one, and all of them know them. Their clocks tell different times; by that of rank 0
// a checkpoint is due after every other epoch.
func TestSameForAnyNumberOfRanks(t *testing.T) {
	c, opt := together(t)
	one := alikeInRanks(t, c, opt)
	opt.From, c.Pretrain.Epochs = one.Policy, 0
	alikeInRanks(t, c, opt)
}

// alikeInRanks is the result of a training.
func alikeInRanks(t *testing.T, c Config, opt Options) *Result {
	t.Helper()
	one, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 3, 7} { // five tiles
		path := filepath.Join(t.TempDir(), "p.checkpoint")
		for rank, r := range disttest.Run(n, func(g dist.Group) *Result {
			opt, now := opt, time.Unix(0, 0)
			opt.Ranks, opt.Checkpoint = g, path
			opt.Now = func() time.Time { now = now.Add(time.Duration(10+3*g.Rank()) * time.Second); return now }
			r, err := Run(context.Background(), c, nominal(), 0.02, opt)
			if err != nil {
				t.Error(err)
				return one
			}
			return r
		}) {
			if !slices.Equal(r.Policy.Net.Params, one.Policy.Net.Params) || !reflect.DeepEqual(r.Curve, one.Curve) ||
				r.Best != one.Best {
				t.Errorf("rank %d of %d makes another policy", rank, n)
			}
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%d ranks: no checkpoint was written: %v", n, err)
		}
	}
	return one
}

// TestRanksEndTogether: where one of the ranks is told to end, all end after the same
// epoch; another number of ranks goes on from there to the same bytes.
func TestRanksEndTogether(t *testing.T) {
	c, opt := together(t)
	whole, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	opt.Checkpoint = filepath.Join(t.TempDir(), "p.checkpoint")
	const last = 3
	for rank, err := range disttest.Run(3, func(g dist.Group) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		opt := opt
		opt.Ranks = g
		opt.Progress = func(p train.Progress) {
			if p.Phase == "" && p.Epoch > last {
				t.Errorf("rank %d goes on to epoch %d", g.Rank(), p.Epoch)
			}
			if p.Phase == "" && p.Epoch == last && g.Rank() == 2 {
				cancel()
			}
		}
		_, err := Run(ctx, c, nominal(), 0.02, opt)
		return err
	}) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
	for rank, r := range disttest.Run(2, func(g dist.Group) *Result {
		opt := opt
		opt.Ranks = g
		r, err := Run(context.Background(), c, nominal(), 0.02, opt)
		if err != nil {
			t.Error(err)
		}
		return r
	}) {
		if !slices.Equal(r.Policy.Net.Params, whole.Policy.Net.Params) || !reflect.DeepEqual(r.Curve, whole.Curve) {
			t.Errorf("rank %d: a resumed training makes another policy", rank)
		}
	}
}

// TestRanksFailTogether: what goes wrong on one rank ends all, and is said on all.
func TestRanksFailTogether(t *testing.T) {
	const other = "rank 1 does other work than rank 0"
	for _, odd := range []struct {
		want string
		make func(c *Config, opt *Options, n *Nominal)
	}{
		{"rank 1: envs, horizon", func(c *Config, _ *Options, _ *Nominal) { c.Envs = 0 }},
		{other, func(_ *Config, opt *Options, _ *Nominal) { opt.Seed = 6 }},
		{other, func(_ *Config, opt *Options, _ *Nominal) { opt.Key = "another world" }},
		{other, func(_ *Config, opt *Options, _ *Nominal) { opt.Limits.MaxTiltRate++ }},
		{"term position is not finite in epoch 1", func(_ *Config, _ *Options, n *Nominal) {
			n.Wind = math.NaN() // of its own tiles
		}},
	} {
		errs := disttest.Run(2, func(g dist.Group) error {
			c, opt := together(t)
			c.Pretrain.Epochs, opt.Ranks = 0, g
			n := defaults()
			if g.Rank() == 1 {
				odd.make(&c, &opt, &n)
			}
			_, err := Run(context.Background(), c, NominalWorld[float32](n), 0.02, opt)
			return err
		})
		if errs[0] == nil || errs[1] == nil || !strings.Contains(errs[0].Error(), odd.want) {
			t.Errorf("%v, want %q", errs, odd.want)
		}
	}
}
