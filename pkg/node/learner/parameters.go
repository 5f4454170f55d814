package learner

import (
	"crypto/ed25519"
	"fmt"
	"path/filepath"
	"strings"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/task"
	"vnd/pkg/node"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd/bundle"
)

// Name of the node.
const Name = "background_learner"

// Sources of what is learned.
const (
	fromBuffer = "buffer"
	fromTopic  = "topic"
)

// Params of the node.
type Params struct {
	Robot      string `param:"robot" default:"quadrotor" read_only:"true" doc:"bundles of other robots are refused"`
	Directory  string `param:"directory" default:"vnd_data" read_only:"true" doc:"folder of the bundles (bundles/) and, with source topic, of what was collected (collected/)"`
	Segments   string `param:"buffer_directory" default:"" read_only:"true" doc:"folder in which announced segments may lie, and no other file is opened; empty: buffer/ in directory"`
	BundleFile string `param:"bundle_file" default:"" read_only:"true" doc:"bundle to begin with, where the folder has none; empty trains a policy in the nominal simulator"`
	Signing
	Source string `param:"source" default:"buffer" enum:"buffer,topic" read_only:"true" doc:"buffer: segments that transition_recorder announces on this host; topic: the node collects step itself"`
	// Namespaces of a fleet.
	Namespaces []string `param:"namespaces" default:"" read_only:"true" doc:"namespaces of a fleet's robots: all are learned from, and bundle and learner/status go to each; empty: the node's own"`
	Seed       int      `param:"seed" default:"1" min:"0" max:"4294967295" read_only:"true" doc:"seed of all randomness"`

	Airframe string             `param:"airframe" default:"" read_only:"true" doc:"file of the vehicle: limits, response; empty takes the defaults of params/airframe.yaml"`
	Limits   quad.Limits        `param:"limits" file:"airframe" read_only:"true" doc:"what the airframe may be told"`
	Guard    guard.Config       `param:"guard" file:"airframe" read_only:"true" doc:"the geofence, and what else the guard allows: of the gate's flights"`
	Rotors   rotors.Airframe    `param:"rotors" file:"airframe" read_only:"true" doc:"body and rotors: of the gate's flights"`
	Response preflight.Response `param:"response" file:"airframe" read_only:"true" doc:"how it follows commands: of the base policy's training"`

	Judge  judge                   `param:"judge" read_only:"true" doc:"flights of the gate in the full simulator, under disturbances drawn at random"`
	Buffer dataset.CollectorConfig `param:"buffer" doc:"buffer of what this node collects with source: topic"`

	rounds.ResourceLimits
	Task           string `param:"task" default:"hover,track" read_only:"true" doc:"hover, track or land, or several with commas between: one policy for all; or features"`
	task.Objective `read_only:"true"`
	continual.Base `read_only:"true"`
	rounds.Config
}

// Signing is how what is published is signed.
type Signing struct {
	KeyFile string `param:"bundle_key_file" default:"" read_only:"true" doc:"private key that signs what is published, of vnd key new; empty signs nothing"`
	node.Trust
}

type judge struct {
	Use bool `param:"use" default:"true" doc:"flights in the full simulator; false: the gate flies in the learned model alone"`
	gate.JudgeConfig
}

// SetAirframe sets what the airframe's file holds.
func (p *Params) SetAirframe(a *airframe.Airframe) {
	p.Limits, p.Guard, p.Response = a.Limits, a.Guard, a.Response
}

// check refuses what does not go together.
func (p *Params) check() error {
	if err := p.Limits.Check(); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	if err := p.Rotors.Check(); err != nil {
		return err
	}
	if _, err := p.signer(); err != nil {
		return err
	}
	if err := checkFleet(p.Namespaces); err != nil {
		return err
	}
	if p.Source == fromTopic && p.Buffer.Dt != p.Nominal.Dt {
		return fmt.Errorf("buffer.dt is %g s and nominal.dt %g: rows are Δt of the bundles apart", p.Buffer.Dt,
			p.Nominal.Dt)
	}
	oldest := p.Judge.Poses.Latency + 1/p.Judge.Poses.Rate
	if p.Judge.Use && p.Judge.Filter && oldest >= p.Guard.MaxAge {
		return fmt.Errorf("judge.poses.latency and judge.poses.rate: poses get %.3f s old, expected less than "+
			"guard.max_age, %g s: no policy would fly by them", oldest, p.Guard.MaxAge)
	}
	if _, _, err := continual.Tasks(&p.Objective, p.Task); err != nil {
		return fmt.Errorf("parameter task: %w", err)
	}
	return nil
}

// signer reads the private key, nil where there is none. It must be that of bundle_key, or nobody would fly what it
// signs.
func (p *Signing) signer() (ed25519.PrivateKey, error) {
	trust, err := p.Trust.New()
	if err != nil {
		return nil, err
	}
	if p.KeyFile == "" {
		if trust.Key != nil && !trust.Unsigned {
			return nil, fmt.Errorf("parameter bundle_key is set and bundle_key_file is not: " +
				"nobody would fly unsigned bundles")
		}
		return nil, nil
	}
	key, err := bundle.ReadKey(p.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("parameter bundle_key_file: %w", err)
	}
	if public := key.Public().(ed25519.PublicKey); trust.Key != nil && !trust.Key.Equal(public) {
		return nil, fmt.Errorf("parameter bundle_key_file: its public key is %s, bundle_key is %s",
			bundle.FormatKey(public), p.Key)
	}
	return key, nil
}

// segments is the folder in which announced segments may lie.
func (p *Params) segments() (string, error) {
	root := p.Segments
	if root == "" {
		root = filepath.Join(p.Directory, "buffer")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("parameter buffer_directory: %w", err)
	}
	return root, nil
}

// inside refuses a folder that a message names, unless it is root or lies in it: anybody may publish on the topic.
func inside(root, dir string) error {
	if dir == root || filepath.Clean(dir) == dir && strings.HasPrefix(dir, root+string(filepath.Separator)) {
		return nil
	}
	return fmt.Errorf("folder %.200q is refused, expected %s (parameter buffer_directory)", dir, root)
}
