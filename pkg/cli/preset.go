package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/core/atomicfile"
)

// worlds are those that come with the project, as seen from its root.
const worlds = "params/worlds/"

// paper are the parameters of the paper: its cost, episodes without switches under which a soft cost would lean too
// little, and a base policy whose reference nothing moves.
var paper = []string{"cost:=paper", "policy.switch_share:=0.0", "base.integral.time:=0.0",
	"base.feed_forward.time:=0.0"}

// part is one study of a preset, or one ablation.
type part struct {
	name   string
	study  *studyCommand
	ablate *ablateCommand
}

// horizon are parameters, with episodes of so many steps.
func horizon(params []string, steps int) []string {
	return append(slices.Clone(params), fmt.Sprintf("base.horizon:=%d", steps), fmt.Sprintf("policy.horizon:=%d", steps))
}

// presets are whole studies.
var presets = map[string]func() []part{"paper": asInThePaper, "budgets": budgets}

const winds = worlds + "winds17.yaml"

// asInThePaper has policies of one task each, with episodes of 5 s in hover and of 2.5 s on the figure-eight. Over 5 s
// the default rate of learning makes policies that shake.
func asInThePaper() []part {
	learned := "base,oracle,first,ours"
	return []part{
		{name: "hover", study: &studyCommand{World: winds, Task: "hover", Methods: learned, Rounds: 3, Seconds: 20,
			learnFlags: learnFlags{Param: append(horizon(paper, 250), "policy.rate:=0.003")}}},
		{name: "figure-eight", study: &studyCommand{World: winds, Task: "track", Methods: learned, Rounds: 3,
			Seconds: 20, Turns: true, learnFlags: learnFlags{Param: horizon(paper, 125)},
			Turning: []string{worlds + "opposite.yaml", worlds + "quarter.yaml", worlds + "revisit.yaml"}}},
		{name: "cut propeller", study: &studyCommand{World: worlds + "half_cut.yaml", Task: "track",
			Methods: "base,first,ours", Rounds: 5, Seconds: 20, learnFlags: learnFlags{Param: horizon(paper, 125)}}},
		{name: "ablations", ablate: &ablateCommand{World: winds, Task: "hover,track", Rounds: 2, Seconds: 20,
			Variants: []string{"no prior=fit.prior.enabled:=false", "no FiLM=fit.model.film:=false",
				"no MMD=fit.loss.mmd:=0.0", "no anneal=fit.loss.mmd_start:=0.0,fit.loss.mmd_ramp:=0.001",
				"no reconstruction=fit.loss.reconstruction:=0.0", "MLP encoder=fit.model.encoder:=mlp",
				"z of 3=fit.model.latent:=3,base.latent:=3", "z of 24=fit.model.latent:=24,base.latent:=24"}}},
	}
}

// budgets changes what the training of a policy takes, one thing at a time; the last is the paper's.
func budgets() []part {
	return []part{{name: "budgets", ablate: &ablateCommand{World: winds, Unseen: []string{worlds + "unseen.yaml"},
		Task: "hover,track", Rounds: 1, Seconds: 20, Variants: []string{
			"width 64=base.hidden:=64,policy.hidden:=64", "width 256=base.hidden:=256,policy.hidden:=256",
			"32 episodes=policy.envs:=32", "128 episodes=policy.envs:=128", "256 episodes=policy.envs:=256",
			"100 epochs=policy.epochs:=100", "600 epochs=policy.epochs:=600", "horizon 50=policy.horizon:=50",
			"horizon 125=policy.horizon:=125", "rate .002=policy.rate:=0.002", "rate .01=policy.rate:=0.01",
			"the paper's=base.hidden:=512,policy.hidden:=512,policy.envs:=512,policy.epochs:=1500,policy.horizon:=125"}}}}
}

// presetResult is what a preset came to.
type presetResult struct {
	Parts    []presetPart `json:"parts"`
	Warnings []string     `json:"warnings"`
}

type presetPart struct {
	Name   string `json:"name"`
	Result result `json:"result"`
}

// WriteText implements result.
func (p *presetResult) WriteText(w io.Writer) error {
	for i, part := range p.Parts {
		if _, err := fmt.Fprintf(w, "%s# %s\n\n", strings.Repeat("\n", min(i, 1)), part.Name); err != nil {
			return err
		}
		if err := part.Result.WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

// runPreset makes the studies of a preset one after another, each with a folder of its own, which has its table as soon
// as it is done. One that fails does not keep others from being made.
func (s *studyCommand) runPreset(c *console) error {
	parts, ok := presets[s.Preset]
	switch {
	case !ok:
		return fmt.Errorf("--preset %s: expected one of %s", s.Preset,
			strings.Join(slices.Sorted(maps.Keys(presets)), ", "))
	case s.World != "" || s.Turning != nil || s.Unseen != nil || s.Methods != "" || s.Bundle != "" || s.Air != "":
		return errors.New("--preset says what is flown and measured: expected no --world, --turning, --unseen, " +
			"--methods, --bundle or --air beside it")
	}
	if _, err := os.Stat(worlds); err != nil {
		return fmt.Errorf("--preset: its worlds are those of the project, expected to run in its folder: %w", err)
	}
	out := &presetResult{}
	var failed error
	for _, p := range s.parts(parts()) {
		if c.ctx.Err() != nil {
			break
		}
		c.log.Info().Msg(p.name)
		r, err := p.run(c)
		if r != nil {
			out.Parts = append(out.Parts, presetPart{p.name, r})
			err = errors.Join(err, atomicfile.WriteFile(filepath.Join(p.out(), "table.md"), r.WriteText))
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", p.name, err)
			c.log.Error().Msg(err.Error())
		}
		failed = errors.Join(failed, err)
	}
	if len(out.Parts) == 0 {
		return failed
	}
	out.Warnings = c.warnings
	return errors.Join(c.show(out), failed)
}

// parts takes over what was asked for beside the preset.
func (s *studyCommand) parts(all []part) (out []part) {
	for _, p := range all {
		dir := filepath.Join(s.Out, strings.ReplaceAll(p.name, " ", "_"))
		if k := p.study; k != nil {
			k.Out, k.Seeds, k.Config, k.Airframe, k.Param = dir, s.Seeds, s.Config, s.Airframe, append(k.Param,
				s.Param...)
			k.externalFlags, k.tableFlags = s.externalFlags, s.tableFlags
		}
		if k := p.ablate; k != nil {
			k.Out, k.Seeds, k.Config, k.Airframe, k.Param = dir, s.Seeds, s.Config, s.Airframe, s.Param
		}
		out = append(out, p)
	}
	return out
}

// run returns what was done, also where not all was: nil where nothing was.
func (p *part) run(c *console) (result, error) {
	if p.ablate != nil {
		out, err := p.ablate.ablate(c)
		if out == nil {
			return nil, err
		}
		return out, err
	}
	out, err := p.study.study(c)
	if out == nil {
		return nil, err
	}
	return out, err
}

// out is the folder of a part.
func (p *part) out() string {
	if p.ablate != nil {
		return p.ablate.Out
	}
	return p.study.Out
}
