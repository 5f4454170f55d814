package rounds

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/train"
	"vnd/pkg/vnd/bundle"
)

// TestPause: a pause ends the round at work and lets none begin; its data wait.
func TestPause(t *testing.T) {
	long(t)
	dir, buffer := t.TempDir(), t.TempDir()
	cfg := tiny()
	cfg.Fit.Train.Updates = 1e6
	var set atomic.Pointer[Config]
	set.Store(cfg)
	b := startBy(t, set.Load, options(t, dir))
	b.bundles(1)
	b.learn(segment(t, buffer, flown(0, 0, 10, 1)))
	b.until("a fit", func() bool {
		return b.seen[len(b.seen)-1].Phase == continual.Fitting && b.seen[len(b.seen)-1].Share > 0
	})
	if line, err := b.TrainNow(b.ctx); err != nil || line != "learning is at work already" {
		t.Errorf("%q, %v", line, err)
	}
	if _, err := b.Pause(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	b.until("the pause", func() bool { return b.seen[len(b.seen)-1].Phase == Paused })
	if _, err := b.TrainNow(b.ctx); err == nil {
		t.Error("a round begins in a pause")
	}
	quick := *cfg
	quick.Fit.Train.Updates = 20
	set.Store(&quick)
	if _, err := b.Pause(b.ctx, false); err != nil {
		t.Fatal(err)
	}
	b.bundles(2)
}

// TestSegmentsNotAsAnnouncedAreRefused: what is not what was announced is refused in one line, and costs nothing else.
func TestSegmentsNotAsAnnouncedAreRefused(t *testing.T) {
	b := start(t, tiny(), options(t, t.TempDir()))
	b.bundles(1)
	buffer := t.TempDir()
	good := segment(t, buffer, flown(0, 0, 2, 1))
	wild := flown(0, 50, 2, 1)
	wild[7].State.P.X = 1e7
	poisoned := segment(t, buffer, wild)
	path := filepath.Join(buffer, good.File)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := good
	other.SHA256[0]++
	fewer := good
	fewer.Rows--
	cut := good
	cut.File = "00000099.seg"
	if err := os.WriteFile(filepath.Join(buffer, cut.File), data[:len(data)-50], 0o644); err != nil {
		t.Fatal(err)
	}
	if cut.SHA256, err = dataset.FileSHA256(filepath.Join(buffer, cut.File)); err != nil {
		t.Fatal(err)
	}
	big := cut
	big.File, big.Rows = "00000098.seg", 1
	if err := os.WriteFile(filepath.Join(buffer, big.File), make([]byte, 2<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, a := range map[string]dataset.SegmentFile{
		"expected a file's name":                        {Dir: buffer, File: "../../../x.seg"},
		"and an absolute folder":                        {Dir: "buffer", File: good.File},
		"no such file":                                  {Dir: buffer, File: "00000077.seg"},
		"not a file":                                    {Dir: filepath.Dir(buffer), File: filepath.Base(buffer)},
		"its SHA-256 is":                                other,
		"100 sound rows, announced were 99":             fewer,
		"0 sound rows, announced were 100: cut off":     cut,
		"too many for the 1 rows":                       big,
		"row 8: position of 1e+07 m, expected at most ": poisoned,
	} {
		b.learn(a)
		b.said(want)
	}
	b.learn(good)
	b.until("rows", func() bool { return b.seen[len(b.seen)-1].Rows == 100 })
	for _, l := range b.lines {
		if strings.Contains(l, "\n") {
			t.Errorf("more than a line: %q", l)
		}
	}
}

// A damaged file is announced with the rows that are sound: they are learned from, and the log tells of the loss.
func TestDamagedSegmentIsReported(t *testing.T) {
	b := start(t, tiny(), options(t, t.TempDir()))
	a := segment(t, t.TempDir(), flown(0, 0, 8, 1))
	path := filepath.Join(a.Dir, a.File)
	if err := os.Truncate(path, 40000); err != nil {
		t.Fatal(err)
	}
	sound, loss, err := dataset.ReadFile(path, dt)
	if err != nil || loss == nil || len(sound.Rows) == 0 {
		t.Fatal(sound, loss, err)
	}
	a.Rows = uint64(len(sound.Rows))
	if a.SHA256, err = dataset.FileSHA256(path); err != nil {
		t.Fatal(err)
	}
	b.learn(a)
	b.said("damaged: segment " + filepath.Join(a.Dir, loss.String()))
}

// A first bundle that may not fly is refused, and asked for again only on request.
func TestFirstBundleThatMayNotFlyIsRefused(t *testing.T) {
	opt := options(t, t.TempDir())
	requested := make(chan bool, 10)
	bad := true
	opt.BasePolicy = func(context.Context, func(train.Progress)) (*bundle.Bundle, error) {
		requested <- true
		b := base(t)
		if bad {
			b.Robot = "boat"
		}
		return b, nil
	}
	b := start(t, tiny(), opt)
	b.said(`is refused: static: the bundle is of robot "boat", the vehicle is "quadrotor"`)
	if _, err := b.Rollback(b.ctx); err == nil || len(requested) != 1 {
		t.Errorf("%d times requested, %v", len(requested), err)
	}
	bad = false
	if _, err := b.TrainNow(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.bundles(1)
}

// TestMemory: the oldest segments give way, and learning goes on.
func TestMemory(t *testing.T) {
	long(t)
	cfg := tiny()
	cfg.MaxRows = 1000
	b := start(t, cfg, options(t, t.TempDir()))
	b.bundles(1)
	buffer := t.TempDir()
	for k := range 5 {
		b.learn(segment(t, buffer, flown(float64(k), 100*float64(k), 6, uint64(k))))
	}
	b.bundles(2)
	if err := b.do(b.ctx, func() {
		if b.rows > 1000+300 || b.rows < 600 {
			t.Errorf("%d rows in memory", b.rows)
		}
	}); err != nil {
		t.Error(err)
	}
	b.bundles(3)
}

// TestFullDisk: a bundle for which the disk has no space does not fly.
func TestFullDisk(t *testing.T) {
	long(t)
	dir := t.TempDir()
	b := start(t, tiny(), options(t, dir))
	b.bundles(1)
	state := filepath.Join(dir, "state.json")
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(state, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	b.learn(segment(t, t.TempDir(), flown(0, 0, 10, 1)))
	b.said("cannot be kept")
	if len(b.sent) != 1 {
		t.Errorf("sent %v", b.sent)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	if len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

func TestOtherRobot(t *testing.T) {
	dir := t.TempDir()
	b := start(t, tiny(), options(t, dir))
	b.bundles(1)
	b.stop()
	opt := options(t, dir)
	opt.Vehicle.Robot = "boat"
	if _, err := Open(tiny, opt); err == nil ||
		!strings.Contains(err.Error(), `is of robot "quadrotor" at Δt = 0.02 s, expected "boat"`) {
		t.Errorf("%v", err)
	}
}
