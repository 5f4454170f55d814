package cli

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"time"

	"vnd/pkg/vnd/bundle"
)

type keyCommand struct {
	New  keyNewCommand  `cmd:"" help:"Make a key with which background_learner signs its bundles."`
	Show keyShowCommand `cmd:"" help:"Print the public key for parameter bundle_key."`
	Sign keySignCommand `cmd:"" help:"Sign a bundle, such as the first one of a lab."`
}

type keyNewCommand struct {
	File string `arg:"" name:"out" help:"File to write, for parameter bundle_key_file, unless it is there."`
}

// publicKey is a key pair as far as others may know it.
type publicKey struct {
	File string `json:"file"`
	Key  string `json:"bundle_key"`
}

func newPublicKey(file string, key ed25519.PrivateKey) *publicKey {
	return &publicKey{file, bundle.FormatKey(key.Public().(ed25519.PublicKey))}
}

// WriteText implements result: it writes parameters.
func (k *publicKey) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "# for all nodes\nbundle_key: %q\n", k.Key)
	if err == nil {
		_, err = fmt.Fprintf(w, "# for background_learner, on its machine alone\nbundle_key_file: %q\n", k.File)
	}
	return err
}

// Run implements `vnd key new`.
func (k *keyNewCommand) Run(c *console) error {
	key, err := bundle.NewKey(k.File)
	if err != nil {
		return err
	}
	return c.show(newPublicKey(k.File, key))
}

type keyShowCommand struct {
	File string `arg:"" name:"key" help:"Private key that vnd key new made."`
}

// Run implements `vnd key show`.
func (k *keyShowCommand) Run(c *console) error {
	key, err := bundle.ReadKey(k.File)
	if err != nil {
		return err
	}
	return c.show(newPublicKey(k.File, key))
}

type keySignCommand struct {
	Key    string `required:"" placeholder:"FILE" help:"Private key that vnd key new made."`
	Out    string `required:"" placeholder:"BUNDLE" help:"File for the signed bundle."`
	Bundle string `arg:"" help:"Bundle to sign."`
}

// signedBundle is a bundle that was signed.
type signedBundle struct {
	ID  string `json:"id"`
	Key string `json:"bundle_key"`
	Out string `json:"out"`
}

// Run implements `vnd key sign`.
func (k *keySignCommand) Run(c *console) error {
	key, err := bundle.ReadKey(k.Key)
	if err != nil {
		return fmt.Errorf("--key: %w", err)
	}
	b, err := bundle.Read(k.Bundle)
	if err != nil {
		return err
	}
	data, err := b.EncodeSigned(key, time.Now().UnixNano())
	if err != nil {
		return err
	}
	if err := bundle.WriteBytes(k.Out, data); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return c.show(&signedBundle{b.ID, newPublicKey(k.Key, key).Key, k.Out})
}

// WriteText implements result.
func (s *signedBundle) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: bundle %s, signed by %s\n", s.Out, s.ID, s.Key)
	return err
}
