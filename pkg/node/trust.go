package node

import (
	"fmt"

	"vnd/pkg/vnd/bundle"
)

// Trust are the parameters of whose bundles fly.
type Trust struct {
	Key      string `param:"bundle_key" default:"" read_only:"true" doc:"public key that must have signed a bundle; empty takes those of anybody"`
	Unsigned bool   `param:"unsigned_bundles" default:"false" read_only:"true" doc:"takes bundles without signature beside signed ones"`
}

// Check refuses a key that is none.
func (p *Trust) Check() error {
	_, err := p.New()
	return err
}

// New makes what checks bundles.
func (p *Trust) New() (*bundle.Trust, error) {
	t := &bundle.Trust{Unsigned: p.Unsigned}
	if p.Key == "" {
		return t, nil
	}
	var err error
	if t.Key, err = bundle.ParseKey(p.Key); err != nil {
		return nil, fmt.Errorf("parameter bundle_key: %w", err)
	}
	return t, nil
}

// Warning says what the parameters leave open; "" where bundles must be signed.
func (p *Trust) Warning() string {
	switch {
	case p.Key == "":
		return "bundle_key is not set: a bundle of anybody who reaches the topic bundle flies (vnd key new makes a key)"
	case p.Unsigned:
		return "unsigned_bundles is set: a bundle without a signature, of anybody who reaches the topic bundle, flies"
	}
	return ""
}
