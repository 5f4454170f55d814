package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/flight/export"
	"vnd/pkg/vnd/bundle"
)

type exportCommand struct {
	Bundle string   `required:"" placeholder:"BUNDLE" help:"Bundle whose networks are written."`
	Out    string   `required:"" placeholder:"DIR" help:"Folder to write to; files of the same names are replaced."`
	Format []string `default:"onnx,c" help:"onnx, c (float32) or c-int8 (weights of a byte), or several."`
	Parts  []string `help:"policy, encoder or model, or several; all without it."`
	Name   string   `default:"vnd_net" help:"Name of the C files, with which their functions begin."`
}

// exportedNets is what `vnd export` did.
type exportedNets struct {
	Bundle string   `json:"bundle"` // ID
	Parts  []string `json:"parts"`
	Files  []string `json:"files"`
	// Of weights of a byte: by how much the policy's commands differ, in half ranges; nil where nobody asked.
	Int8 *commandError `json:"int8,omitempty"`
}

type commandError struct {
	Worst float64 `json:"worst"`
	RMS   float64 `json:"rms"`
}

// exporting is one run of `vnd export`.
type exporting struct {
	*exportCommand
	bundle *bundle.Bundle
	nets   *export.Networks
	done   *exportedNets
}

// Run implements `vnd export`.
func (e *exportCommand) Run(c *console) error {
	b, err := bundle.Read(e.Bundle)
	if err != nil {
		return err
	}
	x := &exporting{exportCommand: e, bundle: b, done: &exportedNets{Bundle: b.ID, Parts: e.Parts}}
	if x.nets, err = export.Of(b); err != nil {
		return fmt.Errorf("%s: %w", e.Bundle, err)
	}
	if len(e.Parts) == 0 {
		x.done.Parts = x.nets.Parts()
	}
	writers := map[string]func() error{"onnx": x.onnx, "c-int8": x.int8,
		"c": func() error { return x.source(e.Name, false) }}
	if len(e.Format) == 0 {
		return errors.New("--format: expected onnx, c or c-int8")
	}
	for _, f := range e.Format {
		if writers[f] == nil {
			return fmt.Errorf("--format %s: expected onnx, c or c-int8", f)
		}
	}
	if err := os.MkdirAll(e.Out, 0o777); err != nil {
		return err
	}
	for _, f := range e.Format {
		if err := writers[f](); err != nil {
			return err
		}
	}
	return c.show(x.done)
}

func (x *exporting) onnx() error {
	for _, part := range x.done.Parts {
		data, err := x.nets.ONNX(part)
		if err != nil {
			return err
		}
		if err := x.write(part+".onnx", data); err != nil {
			return err
		}
	}
	return nil
}

// source writes the header and source of C.
func (x *exporting) source(name string, int8 bool) error {
	h, c, err := x.nets.C(name, x.done.Parts, int8)
	if err != nil {
		return err
	}
	if err := x.write(name+".h", h); err != nil {
		return err
	}
	return x.write(name+".c", c)
}

// int8 writes the source with weights of a byte, and the bundle of these weights: to fly it in simulation.
func (x *exporting) int8() error {
	name := x.Name + "_int8"
	if err := x.source(name, true); err != nil {
		return err
	}
	small, err := export.Rounded(x.bundle)
	if err != nil {
		return err
	}
	path := filepath.Join(x.Out, name+".vnd")
	if err := bundle.Write(path, small); err != nil {
		return err
	}
	x.done.Files = append(x.done.Files, path)
	if !slices.Contains(x.done.Parts, export.Policy) {
		return nil
	}
	x.done.Int8 = new(commandError)
	x.done.Int8.Worst, x.done.Int8.RMS, err = export.CommandError(x.bundle, small)
	return err
}

func (x *exporting) write(name string, data []byte) error {
	path := filepath.Join(x.Out, name)
	err := atomicfile.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	x.done.Files = append(x.done.Files, path)
	return err
}

// WriteText implements result.
func (e *exportedNets) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s of bundle %s: wrote %s\n", strings.Join(e.Parts, ", "), e.Bundle,
		strings.Join(e.Files, ", "))
	if err == nil && e.Int8 != nil {
		_, err = fmt.Fprintf(w, "int8: commands differ by %.4f of their half range, rms %.4f, on inputs about those "+
			"of training\n", e.Int8.Worst, e.Int8.RMS)
	}
	return err
}
