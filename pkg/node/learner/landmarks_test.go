package learner

import (
	"path/filepath"
	"testing"
)

// TestLearnsByLandmarks: a first policy that flies by landmarks is trained and flies over the wire, in wind that comes
// and goes; what was recorded of it makes another one, which the gate flies by landmarks, too, and which then flies.
func TestLearnsByLandmarks(t *testing.T) {
	if testing.Short() {
		t.Skip("five processes")
	}
	f := newField(t)
	world := must(filepath.Abs(filepath.Join("testdata", "gusty.yaml")))(t)
	f.start("background_learner", append(append([]string(nil), tiny...), "task:=features", "directory:="+f.data,
		"max_rows:=20000", "base.hidden:=32", "base.epochs:=300", "base.envs:=32", "base.horizon:=60")...)
	f.until("a first bundle", func() bool { return len(f.bundles) > 0 })
	first := f.bundles[0]
	f.start("transition_recorder", "directory:="+f.data, "buffer.segment_seconds:=5.0", "bag.least_free:=0")
	f.start("latent_encoder")
	// Frames do not wait for a machine that is busy, as samples do in lockstep.
	f.start("policy_controller", "autostart:=true", "guard.max_frame_age:=1.0")
	f.start("quad_sim", "world:="+world, "lockstep:=true", "lockstep_patience:=10.0", "lockstep_paced:=true",
		"speed:=3.0")
	f.until("flight under the first bundle", func() bool { return f.flying(first, 100) && f.segments > 0 })
	f.until("another bundle is learned", func() bool { return len(f.bundles) > 1 })
	f.until("it flies", func() bool { return f.flying(f.bundles[len(f.bundles)-1], 100) })
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.steps {
		if s.Task != "features" || s.LatentStamp.Sec != 0 {
			t.Fatalf("step %+v", s)
		}
	}
	if len(f.latents) > 0 {
		t.Errorf("latents %v of policies that are given no state", f.latents)
	}
}
