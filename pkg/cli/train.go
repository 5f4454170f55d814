package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/dist"
	"vnd/pkg/core/param"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/viz/plot"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// trainNode is the node name of a training's block in a parameter file.
const trainNode = "train"

// trainConfig is all of a policy's training.
type trainConfig struct {
	task.Objective
	Nominal quadtrain.Nominal `param:"nominal" doc:"nominal simulator, for a training without a bundle's model"`
	quadtrain.Config
}

type trainCommand struct {
	Task      string   `required:"" placeholder:"TASK" help:"hover, track or land, or several with commas between; or features: hovering by a camera's view of known points. Of an arm track_pose, of a pusher push."`
	Out       string   `required:"" placeholder:"BUNDLE" help:"File to write the policy to, with the model if there is one. Until then the training is kept in BUNDLE.checkpoint."`
	Bundle    string   `placeholder:"BUNDLE" help:"Train in this fitted model, and go on from its policy if it has one; else from scratch in the nominal simulator."`
	Reference string   `placeholder:"R.json" help:"Reference that track follows; the default is a figure-eight."`
	Flights   []string `placeholder:"INPUT" help:"Flights of whose latents the latent prior, under which episodes are flown, is made anew."`
	Config    string   `placeholder:"F.yaml" help:"Parameter file, node name \"train\" (see params/train.yaml)."`
	Param     []string `short:"p" sep:"none" placeholder:"NAME:=VALUE" help:"Set one parameter, after the file's; may be repeated."`
	Robot     string   `default:"quadrotor" enum:"quadrotor,rotors,arm,pusher" help:"Of what: ${enum}."`
	Rotors    string   `placeholder:"M.json" help:"Fitted model for --robot rotors; else the airframe's."`
	Airframe  string   `placeholder:"F.yaml" help:"Parameter file, node name \"airframe\": what may be commanded."`
	Seed      uint64   `default:"1" help:"Seed of all randomness."`
	Plot      string   `placeholder:"F.png" help:"Draw the training's curves."`
}

// trainResult is what a training came to.
type trainResult struct {
	Bundle   string        `json:"bundle"`
	ID       string        `json:"id"`
	Parent   string        `json:"parent,omitempty"`
	Task     string        `json:"task"`
	Cost     string        `json:"cost"`
	Epochs   int           `json:"epochs"`
	Seconds  float64       `json:"seconds"`
	Last     train.Figures `json:"last"`            // of the last epoch
	Best     *train.Flown  `json:"best,omitempty"`  // trial flights of the kept policy
	There    *float64      `json:"there,omitempty"` // share of the last pushes that ended at their goals
	Seed     uint64        `json:"seed"`
	Kernel   string        `json:"kernel"`
	Warnings []string      `json:"warnings"`
}

// Run implements `vnd train`.
func (t *trainCommand) Run(c *console) error {
	var r *trainResult
	if err := c.together(func(g dist.Group) (err error) {
		r, err = t.training()(c, g)
		return err
	}); err != nil {
		return err
	}
	return c.show(r)
}

// tasks makes the tasks of a training.
func (t *trainCommand) tasks(cfg *trainConfig, frame *airframe.Airframe) ([]*task.Task, error) {
	names, err := task.Split(t.Task)
	if err != nil {
		return nil, fmt.Errorf("--task: %w", err)
	}
	if t.Reference != "" && !slices.Contains(names, task.Track) {
		return nil, fmt.Errorf("--reference: expected with --task %s", task.Track)
	}
	var tasks []*task.Task
	for _, name := range names {
		file := ""
		if name == task.Track {
			file = t.Reference
		}
		path, err := frame.Reference(name, file)
		if err != nil {
			return nil, err
		}
		k, err := cfg.New(name, path)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, k)
	}
	return tasks, nil
}

// camera gives the task of features its points: those of the policy to improve,
// else the given ones, else its own.
func (t *trainCommand) camera(cfg *trainConfig, from *policy.Policy[float32]) error {
	points := &cfg.Observation.Camera.Points
	switch {
	case t.Task != task.Features && len(*points) > 0:
		return fmt.Errorf("parameter \"observation.camera.points\": expected with --task %s alone", task.Features)
	case from != nil && len(*points) > 0 && !slices.Equal(*points, from.Observation.Camera.Points):
		return fmt.Errorf("parameter \"observation.camera.points\": the policy of %s sees other points, expected "+
			"its own or none", t.Bundle)
	case t.Task == task.Features && len(*points) == 0:
		*points = task.Points()
	}
	return nil
}

// seesFor refuses a policy whose observation is not the task's.
func seesFor(name string, p *policy.Policy[float32]) error {
	switch {
	case name == task.Features && p.Pinhole == nil:
		return fmt.Errorf("its policy sees positions, expected one that sees features: vnd train --task %s makes one",
			task.Features)
	case name != task.Features && p.Pinhole != nil:
		return fmt.Errorf("its policy sees features, expected one that sees positions: it flies --task %s alone",
			task.Features)
	}
	return nil
}

// trainer is what a policy is trained in and from.
type trainer struct {
	world  train.World[float32]
	trials train.World[float32] // for the flights that choose the policy to keep
	dt     float64
	from   *policy.Policy[float32]
	bundle *bundle.Bundle       // to put the policy in
	model  *vnd.Model[float32]  // of the worlds; nil: none
	motors *rotors.Limits       // nil: it commands thrust and body rates
	driven []byte               // model of rotors and their limits, as text
	base   train.World[float32] // that a policy of motors begins in; nil: in world
}

// trainer reads the bundle, if there is one.
func (t *trainCommand) trainer(cfg *trainConfig, frame *airframe.Airframe) (*trainer, error) {
	switch {
	case t.Robot == rotors.Name:
		return t.rotorTrainer(cfg, frame)
	case t.Rotors != "":
		return nil, errors.New("--rotors: expected with --robot rotors")
	}
	if t.Bundle == "" {
		wide := forTrials(cfg.Nominal)
		b := &bundle.Bundle{Robot: quadrotor.Name, Dt: cfg.Nominal.Dt}
		return &trainer{world: quadtrain.NominalWorld[float32](cfg.Nominal),
			trials: quadtrain.NominalWorld[float32](wide), dt: cfg.Nominal.Dt, bundle: b}, nil
	}
	b, err := bundle.Read(t.Bundle)
	if err != nil {
		return nil, err
	}
	m, q, err := vnd.FromBundle(b, quadrotor.Reader)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Bundle, err)
	}
	s := &trainer{dt: q.Dt, bundle: b, model: m}
	if policy.In(b) {
		if s.from, err = policy.FromBundle(b); err == nil {
			err = seesFor(t.Task, s.from)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Bundle, err)
		}
	}
	s.world = quadtrain.Learned(m, q.Dt, cfg.ResidualGradient, cfg.Pushes(s.from), cfg.Margins)
	s.trials = quadtrain.Learned(m, q.Dt, false, cfg.Trial(s.from), cfg.Margins)
	b.Parent = b.ID
	return s, nil
}

// warnOfRollouts tells of a model that was fitted to rollouts in which a controller had time to answer gusts.
func (t *trainCommand) warnOfRollouts(c *console, b *bundle.Bundle, dt float64) {
	const answered = 0.2 // s
	var model map[string]json.RawMessage
	var f struct{ Loss struct{ Steps int } }
	if !vnd.In(b) || b.Section("model", &model) != nil || json.Unmarshal(model["fit"], &f) != nil {
		return
	}
	if n := f.Loss.Steps; float64(n)*dt > answered {
		c.warn(fmt.Sprintf("%s: loss.steps is %d: a model fitted to rollouts over %g s may credit gusts to the "+
			"commands that answered them, so that its policies ask for too much; fit with -p loss.steps:=5",
			t.Bundle, n, answered))
	}
}

// prepared is a training before it begins.
type prepared struct {
	cfg   *trainConfig
	frame airframe.Airframe
	tasks []*task.Task
	*trainer
	bank []float32
	key  string
}

// prepare reads all that a training needs.
func (t *trainCommand) prepare(c *console) (p *prepared, err error) {
	p = &prepared{cfg: new(trainConfig)}
	param.Default(p.cfg)
	if t.Bundle == "" {
		p.cfg.Epochs = continual.BaseEpochs
	}
	if t.Robot == rotors.Name {
		forMotors(p.cfg)
	}
	if err = settle(p.cfg, trainNode, t.Config, t.Param); err != nil {
		return nil, err
	}
	if p.frame, err = airframe.Load(t.Airframe); err != nil {
		return nil, err
	}
	if p.tasks, err = t.tasks(p.cfg, &p.frame); err != nil {
		return nil, err
	}
	continual.Respond(&p.cfg.Nominal, &p.frame.Response)
	if p.trainer, err = t.trainer(p.cfg, &p.frame); err != nil {
		return nil, err
	}
	if p.from != nil {
		p.tasks = task.Improving(p.tasks)
	}
	t.warnOfRollouts(c, p.bundle, p.dt)
	if err := t.camera(p.cfg, p.from); err != nil {
		return nil, err
	}
	if p.bank, err = t.bank(c, p.trainer); err != nil {
		return nil, err
	}
	p.key, err = t.key(p)
	return p, err
}

// seedOfTrials is that of the trial flights of every training.
const seedOfTrials = 0x7e57

// key names what decides a training beyond what train tells apart: the simulator or the model that it is in, where
// its tasks begin and what they follow, its trial flights.
func (t *trainCommand) key(p *prepared) (string, error) {
	cfg := *p.cfg
	cfg.Workers = 0 // does not decide the result
	conf, err := json.Marshal(&cfg)
	if err != nil {
		return "", err
	}
	var reference []byte
	if t.Reference != "" {
		if reference, err = os.ReadFile(t.Reference); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256(append(fmt.Appendf(nil, "%s|%s|%x|%d %d %d", conf, p.bundle.Parent, reference,
		train.TrialFlights, train.TrialSteps, seedOfTrials), p.driven...))
	return hex.EncodeToString(sum[:]), nil
}

// train runs the training and writes its bundle, in one of the processes of a
// group. A training that diverges leaves its last good policy there too.
func (t *trainCommand) train(c *console, g dist.Group) (*trainResult, error) {
	unlock, err := claim(g, t.Out, "training")
	defer unlock()
	var p *prepared
	if err == nil {
		p, err = t.prepare(c)
	}
	if err := dist.Agree(g, err); err != nil {
		return nil, err
	}
	b := c.newBar("train")
	if p.base != nil {
		if err := t.trainBase(c, p, g, b.showTraining); err != nil {
			b.done()
			return nil, explained(err, t.Out+".checkpoint", "training")
		}
	}
	trials := quadtrain.NewTrials(p.trials, p.tasks, p.dt, seedOfTrials)
	trials.Sample = train.Sampler(p.cfg.BankShare, p.bank, p.trials.Sample)
	checkpoint := t.Out + ".checkpoint"
	r, err := quadtrain.Run(c.ctx, p.cfg.Config, p.world, p.dt,
		quadtrain.Options{Seed: t.Seed, Tasks: p.tasks, Limits: p.frame.Limits, Motors: p.motors, From: p.from,
			Bank: p.bank, Fly: trials.Fly, Checkpoint: checkpoint, Progress: b.showTraining, Ranks: g,
			Key: p.key})
	b.done()
	if r == nil {
		return nil, explained(err, checkpoint, "training")
	}
	done, werr := &trainResult{}, error(nil)
	if g.Rank() == 0 {
		done, werr = t.write(p, r)
	}
	if werr = dist.Agree(g, werr); err != nil && werr == nil {
		return nil, fmt.Errorf("%w; wrote the policy of before to %s", err, t.Out)
	}
	if err := errors.Join(err, werr); err != nil {
		return nil, err
	}
	done.Warnings = c.warnings
	return done, nil
}

// write puts the policy into its bundle, and draws the training's curves if asked to.
func (t *trainCommand) write(p *prepared, r *quadtrain.Result) (*trainResult, error) {
	s := p.trainer
	out := &trainResult{Bundle: t.Out, Parent: s.bundle.Parent, Task: t.Task, Cost: p.cfg.Cost,
		Epochs: len(r.Curve.Figures), Seconds: r.Seconds, Seed: t.Seed, Kernel: r.Kernel}
	if n := len(r.Curve.Figures); n > 0 {
		out.Last = r.Curve.Figures[n-1]
	}
	if len(r.Curve.Flown) > 0 {
		out.Best = &r.Best
	}
	if err := policy.Put(s.bundle, r.Policy, t.Task); err != nil {
		return nil, err
	}
	metrics := *out
	metrics.Bundle, metrics.Seconds = "", 0 // the same training makes the same bytes
	if err := s.bundle.SetMetrics(trainNode, metrics); err != nil {
		return nil, err
	}
	s.bundle.CreatedBy = "vnd " + version()
	if err := bundle.Write(t.Out, s.bundle); err != nil {
		return nil, goesOn(err, t.Out+".checkpoint", "training")
	}
	out.ID = s.bundle.ID
	if err := os.Remove(t.Out + ".checkpoint"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if t.Plot == "" {
		return out, nil
	}
	return out, atomicfile.WriteFile(t.Plot, func(w io.Writer) error {
		return plot.TrainingCurve(w, "Training of "+t.Task, curve(&r.Curve))
	})
}

// WriteText implements result.
func (t *trainResult) WriteText(w io.Writer) error {
	off := fmt.Sprintf("in the last one %.3f m off, %.0f %% of episodes lost", t.Last.Error, 100*t.Last.Collided)
	switch {
	case t.There != nil:
		off = fmt.Sprintf("%.0f %% of the last pushes are there", 100**t.There)
	case t.Best != nil:
		off = fmt.Sprintf("%.3f m in trial flights, way back included (epoch %d)", t.Best.Score, t.Best.Epoch)
	}
	_, err := fmt.Fprintf(w, "%s, cost %s: %d epochs in %.1f s on %s; %s\nwrote %s, bundle %s\n", t.Task, t.Cost,
		t.Epochs, t.Seconds, t.Kernel, off, t.Bundle, t.ID)
	return err
}

// showTraining moves the bar of a training.
func (b bar) showTraining(p train.Progress) {
	text := fmt.Sprintf("%s: cost %.3f, error %.3f m", cmp.Or(p.Phase, "train"), p.Figures.Cost, p.Figures.Error)
	if p.Score == p.Score {
		text += fmt.Sprintf(", in trial flights %.3f m", p.Score)
	}
	b.at(float64(p.Epoch)/float64(p.Epochs), fmt.Sprintf("%s, %v left", text, p.Left.Round(time.Second)))
}
