package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestErrorsOfFilesNameTheFlagAndWhatIsExpected(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none")
	params := filepath.Join("..", "..", "params")
	calm, lab := filepath.Join(params, "worlds", "calm.yaml"), filepath.Join(params, "lab.yaml")
	const missing = ": no such file or directory, expected "
	to := filepath.Join(dir, "b")
	for want, args := range map[string][]string{
		"vnd fit: --config: open " + none + missing + "a parameter file":   {"fit", "--config", none, "--out", to, dir},
		"vnd fit: INPUT: stat " + none + missing + "flight CSVs, bags or":  {"fit", "--out", to, none},
		"vnd score: --bundle: open " + none + missing + "a bundle":         {"score", "--bundle", none, dir},
		"vnd import: --csv: stat " + none + missing + "a flight CSV":       {"import", "--csv", none, "--out", dir},
		"vnd sweep: FILE: open " + none + missing + "a sweep's file":       {"sweep", none, "--index", "0"},
		"vnd key: KEY: stat " + none + missing + "a key that vnd key new":  {"key", "show", none},
		"vnd key: OUT: open " + none + "/key: no such file or directory\n": {"key", "new", none + "/key"},
		"vnd loop: --world: open " + none + missing + "a world's param":    {"loop", "--world", none, "--out", dir},
		"vnd loop: --out: mkdir " + lab + ": not a directory, expected a folder": {"loop", "--world", calm,
			"--out", lab},
		"vnd train: --airframe: open " + none + missing + "a parameter file": {"train", "--task", "hover",
			"--airframe", none, "--out", to},
		"vnd train: --reference: open " + none + missing + "a reference": {"train", "--task", "track",
			"--reference", none, "--out", to},
	} {
		t.Run(args[0]+" "+strings.Fields(want)[2], func(t *testing.T) {
			if code, _, stderr := run(t, args...); code != 1 || !strings.HasPrefix(stderr, want) {
				t.Errorf("code %d: %s\nwant %s", code, stderr, want)
			}
		})
	}
}

func TestLoopOffersOnlyTasksThatItFlies(t *testing.T) {
	for _, task := range []string{"hoover", "hover,trak"} {
		t.Run(task, func(t *testing.T) {
			world := filepath.Join("..", "..", "params", "worlds", "calm.yaml")
			code, _, stderr := run(t, "loop", "--world", world, "--out", t.TempDir(), "--task", task)
			_, offered, _ := strings.Cut(stderr, ", expected ")
			if code != 1 || !strings.HasPrefix(offered, "hover, track, land, features, or several") {
				t.Errorf("code %d: %s", code, stderr)
			}
		})
	}
}
