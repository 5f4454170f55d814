package main

import (
	"context"
	"os"
	"path/filepath"

	"vnd/pkg/sim/manipulation"
	"vnd/pkg/vnd/bundle"
)

// options are what is compared and drawn.
type options struct {
	oracle, peers   bool
	beside, picture string
}

func run(ctx context.Context, b *manipulation.Budget, o *options, out string) error {
	references, err := b.References()
	if err != nil {
		return err
	}
	others, err := read(o.beside)
	if err != nil {
		return err
	}
	l, err := b.Learn(ctx, references)
	if err != nil {
		return err
	}
	methods := append([]manipulation.Method{manipulation.ByPolicy("base", l.Base, nil),
		manipulation.ByPolicy("improved", l.Improved, l.Model)}, others...)
	methods = append(methods, manipulation.Laws(b.World, references, b.Progress)...)
	b.Report(os.Stdout, l, references, methods)
	if o.oracle || o.peers {
		oracle, err := b.Oracle(ctx, references, l.Base)
		if err != nil {
			return err
		}
		methods = append(methods, oracle)
	}
	if o.peers {
		others, err := b.Peers(ctx, references, l)
		if err != nil {
			return err
		}
		methods = append(methods, others...)
	}
	all := manipulation.Compare(b.World, references, methods...)
	if err := manipulation.Table(os.Stdout, all); err != nil {
		return err
	}
	if err := draw(o.picture, all); err != nil {
		return err
	}
	return write(out, l)
}

// read reads a bundle that is compared, if one is named.
func read(file string) ([]manipulation.Method, error) {
	if file == "" {
		return nil, nil
	}
	b, err := bundle.Read(file)
	if err != nil {
		return nil, err
	}
	m, err := manipulation.ByBundle(filepath.Base(file), b)
	return []manipulation.Method{m}, err
}
