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
}

type modelMember struct {
	Config rotors.Config `json:"config"`
	Theta  []float64     `json:"theta"`
}

const formatName = "vnd rotors"

// Save writes models that predict together.
func Save(path string, models []*rotors.Model) error {
	f := modelFile{Format: formatName, Version: formatVersion}
	for _, m := range models {
		f.Members = append(f.Members, modelMember{m.Config, m.Theta})
	}
	return atomicfile.WriteFile(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(&f) })
}

// Load reads what Save wrote.
func Load(path string) ([]*rotors.Model, error) {
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
	var models []*rotors.Model
	for i, m := range f.Members {
		model, err := rotors.Load(m.Config, m.Theta)
		if err != nil {
			return nil, fmt.Errorf("%s: member %d: %w", path, i, err)
		}
		models = append(models, model)
	}
	return models, nil
}
