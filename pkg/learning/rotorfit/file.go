package rotorfit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/robot/rotors"
)

// formatVersion is that of model files.
const formatVersion = 1

// modelFile is an ensemble as JSON.
type modelFile struct {
	Format  string        `json:"format"`
	Version int           `json:"version"`
	Members []modelMember `json:"members"`
	// Correction is null without one.
	Correction *Correction `json:"correction"`
	Steps      int         `json:"steps,omitempty"` // that the fit went over
}

type modelMember struct {
	Config rotors.Config `json:"config"`
	Theta  []float64     `json:"theta"`
}

const formatName = "vnd rotors"

// Save writes a predictor.
func Save(path string, p *Predictor) error {
	f := modelFile{Format: formatName, Version: formatVersion, Correction: p.Correction, Steps: p.Steps}
	for _, m := range p.Models {
		f.Members = append(f.Members, modelMember{m.Config, m.Theta})
	}
	return atomicfile.WriteFile(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(&f) })
}

// Load reads what Save wrote.
func Load(path string) (*Predictor, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f modelFile
	if err := json.Unmarshal(data, &f); err != nil || f.Format != formatName {
		return nil, fmt.Errorf("%s: no model of rotors (vnd rotors fit writes one)", path)
	}
	if f.Version != formatVersion || len(f.Members) == 0 {
		return nil, fmt.Errorf("%s: version %d with %d members, want version %d", path, f.Version, len(f.Members),
			formatVersion)
	}
	p := &Predictor{Correction: f.Correction, Steps: f.Steps}
	for i, m := range f.Members {
		model, err := rotors.Load(m.Config, m.Theta)
		if err != nil {
			return nil, fmt.Errorf("%s: member %d: %w", path, i, err)
		}
		if m.Config != f.Members[0].Config {
			return nil, fmt.Errorf("%s: member %d: another configuration than member 0, want one for all", path, i)
		}
		p.Models = append(p.Models, model)
	}
	if c := p.Correction; c != nil {
		return p, c.check(path)
	}
	return p, nil
}

// check refuses weights of other sizes than those that the features have.
func (c *Correction) check(path string) error {
	for i, lag := range c.Lags {
		if lag < 1 || lag > 1000 || i > 0 && lag <= c.Lags[i-1] {
			return fmt.Errorf("%s: lags %v of the correction, want them to rise", path, c.Lags)
		}
	}
	for h, w := range c.Weights {
		ok := len(w) == c.size() && c.Outputs > 0 && c.Outputs <= 12 && c.Motor > 0
		for _, x := range w {
			ok = ok && len(x) == c.Outputs
		}
		if !ok {
			return fmt.Errorf("%s: the correction of step %d has other sizes than its features", path, h+1)
		}
	}
	return nil
}
