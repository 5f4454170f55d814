package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/sim/experiment"
)

// TestPresets: worlds, methods and parameters of each preset are there, and what was asked for beside it is taken.
func TestPresets(t *testing.T) {
	asked := &studyCommand{Out: "out", Seeds: []uint64{4, 5}}
	asked.Param = []string{"max_rows:=5000"}
	for name, parts := range presets {
		var folders []string
		for _, p := range asked.parts(parts()) {
			t.Run(name+" "+p.name, func(t *testing.T) { folders = append(folders, checkPart(t, asked, &p)) })
		}
		if slices.Sort(folders); len(slices.Compact(folders)) != len(parts()) {
			t.Errorf("%s: folders %q", name, folders)
		}
	}
}

// checkPart returns the folder of a part.
func checkPart(t *testing.T, asked *studyCommand, p *part) string {
	files, params, seeds, out := asksFor(t, p)
	for _, f := range files {
		if _, err := os.Stat(filepath.Join("..", "..", f)); err != nil {
			t.Error(err)
		}
	}
	for _, list := range params {
		if _, err := settings[experiment.Config](loopNode, "", list); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(seeds, asked.Seeds) || filepath.Dir(out) != "out" {
		t.Errorf("seeds %v in %s", seeds, out)
	}
	return out
}

// asksFor returns what a part needs: files, lists of parameters, seeds and a folder.
func asksFor(t *testing.T, p *part) (files []string, params [][]string, seeds []uint64, out string) {
	if k := p.ablate; k != nil {
		if !slices.Equal(k.Param, []string{"max_rows:=5000"}) {
			t.Errorf("parameters %q of all variants", k.Param)
		}
		for _, v := range k.Variants {
			_, list, _ := strings.Cut(v, "=")
			params = append(params, strings.Split(list, ","))
		}
		return slices.Concat([]string{k.World}, k.Turning, k.Unseen), params, k.Seeds, k.Out
	}
	k := p.study
	for m := range strings.SplitSeq(k.Methods, ",") {
		if !slices.Contains(experiment.Methods, m) {
			t.Errorf("method %q", m)
		}
	}
	cfg, err := settings[experiment.Config](loopNode, "", k.Param)
	if err != nil || cfg.MaxRows != 5000 || cfg.Cost != "paper" {
		t.Errorf("%v: %+v", err, cfg)
	}
	var d experiment.Config
	param.Default(&d)
	if cfg.Base.Train.Integral.Time != 0 || cfg.Policy.Integral.Time != d.Policy.Integral.Time {
		t.Errorf("the base policy's integral takes %g s, that of later ones %g", cfg.Base.Train.Integral.Time,
			cfg.Policy.Integral.Time)
	}
	return slices.Concat([]string{k.World}, k.Turning, k.Unseen), [][]string{k.Param}, k.Seeds, k.Out
}

// TestPresetKeepsWhatIsDone: a part that fails neither takes the tables of those before with it, nor keeps those after
// from being made.
func TestPresetKeepsWhatIsDone(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	calm := func(name, world string) part {
		return part{name: name, study: &studyCommand{World: worlds + world, Task: "hover", Methods: "law", Rounds: 1,
			Seconds: 8}}
	}
	presets["three"] = func() []part {
		return []part{calm("one", "calm.yaml"), calm("two", "missing.yaml"), calm("last one", "calm.yaml")}
	}
	defer delete(presets, "three")
	var text, log strings.Builder
	s := &studyCommand{Preset: "three", Out: t.TempDir(), Seeds: []uint64{1}}
	err := s.runPreset(newConsole(t.Context(), &text, &log, false))
	if err == nil || !strings.Contains(err.Error(), "two: ") || !strings.Contains(err.Error(), "missing.yaml") {
		t.Errorf("error %v", err)
	}
	for _, name := range []string{"one", "last one"} {
		table, err := os.ReadFile(filepath.Join(s.Out, strings.ReplaceAll(name, " ", "_"), "table.md"))
		if err != nil || !strings.Contains(text.String(), "# "+name+"\n\n"+string(table)) || len(table) == 0 {
			t.Errorf("%s: %v, table %q, printed %q", name, err, table, &text)
		}
	}
	if strings.Contains(text.String(), "# two") || !strings.Contains(log.String(), "missing.yaml") {
		t.Errorf("printed %q, logged %q", &text, &log)
	}
}
