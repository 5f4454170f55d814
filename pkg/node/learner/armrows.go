package learner

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/dataset"
)

// refuse logs what is not taken.
func (n *armNode) refuse(topic string, err error) {
	if err != nil {
		n.once(fmt.Sprintf("topic %s: %v", topic, err))
	}
}

// once logs lines that differ in their numbers alone once.
func (n *armNode) once(line string) {
	if n.logged.First(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || strings.ContainsRune(".-+e", r) {
			return -1
		}
		return r
	}, line)) {
		n.log(true, line)
	}
}

// recall opens the rows on disk, and learns from them.
func (n *armNode) recall(ctx context.Context, p *ArmParams) (err error) {
	if n.rows, err = dataset.Open(filepath.Join(p.Directory, "collected"), dataset.Options{MaxRows: p.MaxRows,
		Delta: armlearning.Dt, Clock: time.Now, Kind: armlearning.Rows}); err != nil {
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
		n.learn(ctx, &all[i])
	}
	return nil
}

// take brings the rows of a stretch to disk, and to the learner.
func (n *armNode) take(ctx context.Context) {
	t := n.stream.Take()
	if t.Why != "" {
		n.once(t.Why)
	}
	for _, rows := range t.Rows {
		s := dataset.Encoded{Flight: dataset.FlightName(t.Begin), Rows: armlearning.Encode(rows)}
		n.keep(&s)
		n.learn(ctx, &s)
	}
}

// keep writes rows to disk. What cannot be written is learned from all the same.
func (n *armNode) keep(s *dataset.Encoded) {
	err := n.rows.Put(*s)
	if err == nil {
		n.full.Store(nil)
		return
	}
	n.full.Store(&err)
	n.once(err.Error())
}

// learn hands rows to the learner.
func (n *armNode) learn(ctx context.Context, s *dataset.Encoded) {
	digest, rows := s.Digest(), armlearning.Decode(s.Rows)
	err := n.learner.Take(ctx, hex.EncodeToString(digest[:]), len(rows), rows)
	if err != nil && ctx.Err() == nil {
		n.log(true, err.Error())
	}
}
