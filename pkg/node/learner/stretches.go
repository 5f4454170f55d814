package learner

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/train"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/vnd/bundle"
)

// Stretches are parameters of a robot that is learned in stretches of its rows: of an arm, or of a pushed box.
type Stretches struct {
	Directory  string `param:"directory" default:"vnd_data" read_only:"true" doc:"folder of the bundles (bundles/) and of what was heard (collected/)"`
	BundleFile string `param:"bundle_file" default:"" read_only:"true" doc:"bundle to begin with, where the folder has none; empty trains a policy in the prior"`
	Seed       int    `param:"seed" default:"1" min:"0" max:"4294967295" read_only:"true" doc:"seed of all randomness"`
	Signing
	rounds.ResourceLimits
}

// stretchNode is background_learner of such a robot. What comes is kept on disk, too.
type stretchNode[Row any] struct {
	*roundsNode
	learner *rounds.Runner[[]Row]
	rows    *dataset.Buffer       // on disk
	full    atomic.Pointer[error] // of the disk; nil: rows are kept
	dropped atomic.Uint64         // ticks that the learner had no time for
	logged  node.LogOnce
}

// open makes the topics, and the learner of rows dt seconds apart.
func (n *stretchNode[Row]) open(p *Stretches, dt float64,
	with func(rounds.Common) (*rounds.Runner[[]Row], error)) (err error) {
	if err := n.announce(&p.Signing, &p.ResourceLimits, fleet(nil)); err != nil {
		return err
	}
	o := rounds.Common{Dir: filepath.Join(p.Directory, "bundles"), Seed: uint64(p.Seed), Dt: dt, Publish: n.publish,
		Report: n.progress, Log: n.log}
	if o.Key, err = p.signer(); err != nil {
		return err
	}
	if p.BundleFile != "" {
		o.BasePolicy = func(context.Context, func(train.Progress)) (*bundle.Bundle, error) {
			b, err := bundle.Read(p.BundleFile)
			if err != nil {
				return nil, fmt.Errorf("parameter bundle_file: %w", err)
			}
			return b, nil
		}
	}
	if n.learner, err = with(o); err != nil {
		return fmt.Errorf("parameter directory: %w", err)
	}
	return nil
}

// recall opens the rows on disk, and learns from them.
func (n *stretchNode[Row]) recall(ctx context.Context, dir string, o dataset.Options) (err error) {
	o.Clock = time.Now
	if n.rows, err = dataset.Open(filepath.Join(dir, "collected"), o); err != nil {
		return fmt.Errorf("parameter directory: %w", err)
	}
	for _, loss := range n.rows.Losses() {
		n.log(true, "damaged: segment "+loss.String())
	}
	all, err := n.rows.Segments()
	if err != nil {
		return fmt.Errorf("parameter directory: %w", err)
	}
	for i := range all {
		n.hand(ctx, &all[i])
	}
	return nil
}

// take brings the rows of a stretch, which begins at a stamp, to disk, and to the learner.
func (n *stretchNode[Row]) take(ctx context.Context, begin int64, rows []Row) {
	s := dataset.Encoded{Flight: dataset.FlightName(begin), Rows: dataset.EncodeRows(rows)}
	n.keep(&s)
	n.hand(ctx, &s)
}

// keep writes rows to disk. What cannot be written is learned from all the same.
func (n *stretchNode[Row]) keep(s *dataset.Encoded) {
	err := n.rows.Put(*s)
	if err == nil {
		n.full.Store(nil)
		return
	}
	n.full.Store(&err)
	n.once(err.Error())
}

// hand hands rows to the learner.
func (n *stretchNode[Row]) hand(ctx context.Context, s *dataset.Encoded) {
	digest, rows := s.Digest(), dataset.DecodeRows[Row](s.Rows)
	err := n.learner.Take(ctx, hex.EncodeToString(digest[:]), len(rows), rows)
	if err != nil && ctx.Err() == nil {
		n.log(true, err.Error())
	}
}

// refuse logs what is not taken.
func (n *stretchNode[Row]) refuse(topic string, err error) {
	if err != nil {
		n.once(fmt.Sprintf("topic %s: %v", topic, err))
	}
}

// once logs lines that differ in their numbers alone once.
func (n *stretchNode[Row]) once(line string) {
	if n.logged.First(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || strings.ContainsRune(".-+e", r) {
			return -1
		}
		return r
	}, line)) {
		n.log(true, line)
	}
}

// diagnose reports the state of learning.
func (n *stretchNode[Row]) diagnose(s *diagnostics.Status) {
	n.roundsNode.diagnose(s)
	if err := n.full.Load(); err != nil {
		s.Merge(diagnostics.Error, "rows are in memory alone: %v", *err)
	}
	s.Add("Steps left out", n.dropped.Load())
}

// close waits for the learner, and lets others write.
func (n *stretchNode[Row]) close() error {
	err := n.roundsNode.close()
	if n.rows != nil {
		err = errors.Join(err, n.rows.Close())
	}
	return err
}
