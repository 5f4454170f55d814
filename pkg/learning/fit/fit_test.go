package fit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/pkg/core/param"
)

// quick is a configuration that learns the simulated flights within a second.
func quick() Config {
	c := small()
	c.Model.Context, c.Model.EncoderDense, c.Model.EncoderHidden, c.Model.Hidden = 20, 8, 12, 24
	c.Loss.Steps, c.Loss.MMD, c.Loss.Reconstruction, c.Loss.Huber = 10, .02, .02, 3
	c.Train.Updates, c.Train.Batch, c.Train.Workers, c.Train.Rate = 150, 32, 2, .01
	c.Train.Average, c.Train.Passes, c.Train.Settle, c.Train.Patience = .95, 1000, 0, 1
	return c
}

func TestConfigTags(t *testing.T) {
	var c Config
	if err := param.Check(&c); err != nil {
		t.Fatal(err)
	}
}

// Gradient steps on one small batch drive its loss to nearly nothing.
func TestFitOverfitsOneBatch(t *testing.T) {
	cfg := quick()
	cfg.Train.GainJitter, cfg.BiasCorrection.Share, cfg.Loss.MMD, cfg.Train.Validation = 0, 0, 0, 0
	cfg.Train.Updates, cfg.Train.WeightDecay = 400, 0
	tr, err := newTrainer(&cfg, vehicleWith(3, 60), Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr.train = tr.train[:8]
	before := lossOf(t, tr)
	if err := tr.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if after := lossOf(t, tr); after > .02*before {
		t.Errorf("loss of eight contexts fell from %g to %g only", before, after)
	}
}

func lossOf(t *testing.T, tr *trainer) float64 {
	t.Helper()
	loss, err := tr.pool.loss(tr.train, tr.cfg.Loss.Steps, false)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

func TestFitIsDeterministic(t *testing.T) {
	cfg := quick()
	cfg.Train.Updates = 20
	run := func(seed uint64) []float32 {
		f, err := Run(context.Background(), cfg, flown(recorded(5, 100)), Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return f.Model.Net.Params
	}
	a := run(7)
	if !slices.Equal(a, run(7)) {
		t.Error("the same seed gave other weights")
	}
	if slices.Equal(a, run(8)) {
		t.Error("another seed gave the same weights")
	}
}

// From whichever update a fit is taken up again, it ends with the bytes of one that was not stopped.
func TestResume(t *testing.T) {
	cfg := quick()
	cfg.Train.Updates, cfg.Train.Minutes = 30, 1e4
	cfg.Train.Rate, cfg.Train.Patience = 1, .1 // validation gets worse: the fit stops early
	data, dir := recorded(5, 100), t.TempDir()
	path := filepath.Join(dir, "b.checkpoint")
	clock := time.Unix(0, 0)
	late := func() time.Time {
		clock = clock.Add(20 *
			time.Second)
		return clock
	} // every update is due for a checkpoint
	var checkpoints [][]byte
	whole, err := Run(context.Background(), cfg, flown(data),
		Options{Seed: 7, Checkpoint: path, Now: late, Progress: func(Progress) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkpoints = append(checkpoints, b)
		}})
	if err != nil {
		t.Fatal(err)
	}
	if !whole.Metrics.Stopped || len(checkpoints) >= 30 {
		t.Fatalf("the fit did not stop early: %d updates", len(checkpoints))
	}
	for i, b := range checkpoints {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		resumed, err := Run(context.Background(), cfg, flown(data), Options{Seed: 7, Checkpoint: path, Now: late})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(whole.Model.Net.Params, resumed.Model.Net.Params) {
			t.Fatalf("resumed after update %d, the fit ended with other weights", i+1)
		}
	}
}

func TestInterruptedFitKeepsACheckpoint(t *testing.T) {
	cfg := quick()
	cfg.Train.Updates = 30
	data, path := recorded(5, 100), filepath.Join(t.TempDir(), "b.checkpoint")
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Run(ctx, cfg, flown(data), Options{Seed: 7, Checkpoint: path, Progress: func(p Progress) {
		if p.Update == 7 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), cfg, flown(data), Options{Seed: 8, Checkpoint: path}); err == nil ||
		!strings.Contains(err.Error(), "another configuration, seed") {
		t.Errorf("checkpoint of another seed: error %v", err)
	}
	flipped := slices.Clone(whole)
	flipped[len(flipped)/2] ^= 4
	for name, b := range map[string][]byte{"torn": whole[:len(whole)/2], "flipped bit": flipped, "empty": nil} {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(context.Background(), cfg, flown(data), Options{Seed: 7, Checkpoint: path}); err == nil ||
			!strings.Contains(err.Error(), "not whole") {
			t.Errorf("%s checkpoint: error %v", name, err)
		}
	}
}

// Transitions without confidence leave the gradient as it is, whatever they hold.
func TestConfidenceIsHonoured(t *testing.T) {
	cfg := small()
	cfg.BiasCorrection.Share = 0
	gradient := func(spoil bool) []float32 {
		data := recorded(1, 60)
		for i := 30; i < 60; i++ {
			data[0].Weight[i] = 0
		}
		if spoil {
			for i := 31; i < 60; i++ {
				data[0].Measured[10*i] += 100
			}
		}
		tr, err := newTrainer(&cfg, vehicleWith(1, 60), Options{})
		if err != nil {
			t.Fatal(err)
		}
		tr.data.segments = newTrainingSet(data).segments
		tr.draw(.5)
		for i := range tr.batch.starts {
			tr.batch.starts[i] = start{0, int32(20 + 7*(i%2))}
		}
		if _, err := tr.pool.gradients(&tr.batch, tr.grad); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(tr.grad)
	}
	if !slices.Equal(gradient(false), gradient(true)) {
		t.Error("a transition of confidence 0 changed the gradient")
	}
}

func TestFitRefusesShortFlights(t *testing.T) {
	cfg := quick()
	_, err := Run(context.Background(), cfg, flown(recorded(2, 30)), Options{})
	if err == nil || !strings.Contains(err.Error(), "30 rows, a fit needs at least 31") {
		t.Errorf("error %v, want one that counts the rows", err)
	}
}

// Flights are held out whole.
func TestSplitByFlight(t *testing.T) {
	cfg := quick()
	cfg.Train.Validation = .4
	tr, err := newTrainer(&cfg, vehicleWith(5, 80), Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	held := map[int]bool{}
	for _, s := range append(tr.val[0], tr.val[1]...) {
		held[tr.data.segments[s.Segment].flight] = true
	}
	for _, s := range tr.train {
		if held[tr.data.segments[s.Segment].flight] {
			t.Fatal("a flight is in training and in validation")
		}
	}
	if len(held) != 2 {
		t.Errorf("%d of 5 flights held out at a share of 0.4, want 2", len(held))
	}
}

// What no fit can run with is refused before it begins, a training that diverges where it does.
func TestFitRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no horizon": {func(c *Config) { c.Train.Horizon = nil }, "train.horizon"},
		"too large":  {func(c *Config) { c.Model.Hidden, c.Model.Blocks = 2048, 4 }, "model.hidden"},
		"diverging":  {func(c *Config) { c.Train.Rate, c.Train.Clip, c.Train.Warmup = 1e4, 1e6, 0 }, "diverged"},
	} {
		cfg := quick()
		c.change(&cfg)
		_, err := Run(context.Background(), cfg, flown(recorded(3, 100)), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", name, err, c.want)
		}
	}
}

// TestWarmStart: a fit that goes on from another one is ahead of one that begins anew, and keeps its normalisers. A
// model of other sizes is refused.
func TestWarmStart(t *testing.T) {
	cfg, data := quick(), recorded(6, 300)
	first, err := Run(context.Background(), cfg, flown(data), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Train.Updates = 5
	loss := func(from *Fit) float64 {
		f, err := Run(context.Background(), cfg, flown(data), Options{Seed: 2, From: from})
		if err != nil {
			t.Fatal(err)
		}
		if from != nil && !slices.Equal(f.Model.Inputs.Scale, from.Model.Inputs.Scale) {
			t.Error("a warm start changes the normalisers")
		}
		return f.Metrics.Losses.Dynamics
	}
	if cold, warm := loss(nil), loss(first); warm > .7*cold {
		t.Errorf("loss %.3g after a warm start, %.3g after a cold one", warm, cold)
	}
	cfg.Model.Hidden++
	if _, err := Run(context.Background(), cfg, flown(data), Options{Seed: 2, From: first}); err == nil ||
		!strings.Contains(err.Error(), "to go on from") {
		t.Errorf("error %v", err)
	}
}

// TestSlowStart: seconds lost at the beginning of a fit that is fast enough do not change its numbers.
func TestSlowStart(t *testing.T) {
	run := func(lost time.Duration) []float32 {
		calls, now := 0, time.Unix(0, 0)
		clock := func() time.Time {
			if calls++; calls == 2 { // within the set-up
				now = now.Add(lost)
			}
			return now
		}
		cfg := quick()
		cfg.Train.Updates, cfg.Train.Minutes = 20, 1
		f, err := Run(context.Background(), cfg, flown(recorded(4, 200)), Options{Seed: 1, Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		return f.Model.Net.Params
	}
	if !slices.Equal(run(0), run(2*time.Second)) {
		t.Error("two seconds at the start of a minute change the numbers")
	}
	if slices.Equal(run(0), run(30*time.Second)) {
		t.Error("half of the time lost at the start does not compress the schedule")
	}
}

// TestUnseenSegmentsAreTheFirstValidation: a fit that goes on from another reports that one's loss on the segments it
// was not fitted to. The fit itself comes out the same.
func TestUnseenSegmentsAreTheFirstValidation(t *testing.T) {
	cfg, data := quick(), recorded(6, 300)
	cfg.Train.Validation = 0
	first, err := Run(context.Background(), cfg, flown(data[:4]), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Train.Updates = 2
	validation := func(from *Fit, unseen int) (losses []float64, params []float32) {
		f, err := Run(context.Background(), cfg, flown(data), Options{Seed: 2, From: from, Unseen: unseen,
			Progress: func(p Progress) { losses = append(losses, p.Validation) }})
		if err != nil {
			t.Fatal(err)
		}
		return losses, f.Model.Net.Params
	}
	none, params := validation(first, 0)
	two, same := validation(first, 2)
	one, _ := validation(first, 1)
	cold, _ := validation(nil, 2)
	if none[0] == none[0] || cold[0] == cold[0] {
		t.Errorf("losses %g and %g where nothing is unseen, or no model was there", none[0], cold[0])
	}
	if !(two[0] > 0) || two[0] != two[1] || one[0] == two[0] {
		t.Errorf("losses %v on two unseen segments, %v on one", two, one)
	}
	if !slices.Equal(params, same) {
		t.Error("scoring the unseen segments changes the fit")
	}
}
