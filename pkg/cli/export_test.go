package cli

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// A policy whose weights have a byte each flies as well as it did, to 5 %.
func TestInt8FliesAlike(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join("..", "flight", "control", "testdata", "a.vnd")
	if code, _, stderr := run(t, "export", "--bundle", base, "--out", dir, "--format", "c-int8"); code != 0 {
		t.Fatal(stderr)
	}
	var means [2]float64
	for i, b := range []string{base, filepath.Join(dir, "vnd_net_int8.vnd")} {
		code, stdout, stderr := run(t, "eval", "--task", "track", "--bundle", b, "--world",
			filepath.Join("..", "..", "params", "worlds", "calm.yaml"), "--flights", "3", "--json")
		var r struct {
			Rows []struct {
				Mean    float64 `json:"mean_m"`
				Crashes int     `json:"crashes"`
			} `json:"rows"`
		}
		if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil || len(r.Rows) != 1 {
			t.Fatalf("%v, %s%s", err, stdout, stderr)
		}
		if r.Rows[0].Crashes > 0 {
			t.Errorf("%s: %d crashes", b, r.Rows[0].Crashes)
		}
		means[i] = r.Rows[0].Mean
	}
	t.Logf("%.4f m, with int8 %.4f m", means[0], means[1])
	if means[1] > 1.05*means[0] {
		t.Errorf("%.4f m, with int8 %.4f m", means[0], means[1])
	}
}
