package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"vnd/pkg/viz/scene"
)

const (
	period      = time.Second / 40 // between two messages of rows: more than the 30 pictures a second that people want
	every       = 20               // of these between two of status
	patience    = 5 * time.Second  // for a browser to take a message
	mostViewers = 16
	longestAsk  = 4096 // bytes

	// Of the history that a page begins with, the last seconds are whole and the rest is thinned.
	shown   = 300.0 // s, as much as a page can show
	whole   = 10.0  // s
	thinned = 5     // rows of which one is sent
)

// live is the socket of one browser.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	if s.viewers.Add(1) > mostViewers {
		s.viewers.Add(-1)
		http.Error(w, fmt.Sprintf("%d browsers look already", mostViewers), http.StatusServiceUnavailable)
		return
	}
	defer s.viewers.Add(-1)
	c, err := websocket.Accept(w, r, nil) // its check of the Origin is ours
	if err != nil {
		return // the answer has gone out
	}
	defer c.CloseNow()
	c.SetReadLimit(longestAsk)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	answers := make(chan any, 1)
	go func() {
		defer cancel()
		s.listen(ctx, c, answers)
	}()
	v := &viewer{c: c, s: s, epoch: ^uint64(0)}
	if err := v.show(ctx, answers); err != nil && ctx.Err() == nil {
		_ = c.Close(websocket.StatusInternalError, "the page did not keep up") // it begins anew
	}
}

// ask is what a page wants done.
type ask struct {
	Ask       string `json:"ask"`
	Condition string `json:"condition"`
	Token     string `json:"token"`
}

type reply struct {
	Kind string `json:"kind"`
	Ask  string `json:"ask"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`

	Token bool `json:"token"` // it was wrong
}

// listen answers what the page asks for, one thing at a time.
func (s *Server) listen(ctx context.Context, c *websocket.Conn, answers chan<- any) {
	for {
		_, data, err := c.Read(ctx)
		if err != nil {
			return
		}
		var a ask
		err = json.Unmarshal(data, &a)
		text := ""
		if err == nil {
			text, err = s.do(ctx, a)
		}
		r := reply{Kind: "reply", Ask: a.Ask, OK: err == nil, Text: text}
		if err != nil {
			r.Text, r.Token = err.Error(), errors.Is(err, errToken)
		}
		select {
		case answers <- r:
		case <-ctx.Done():
			return
		}
	}
}

var errToken = errors.New("the token is not right: the visualizer's log has it, or its parameter page.token")

// slow makes who guesses a token wait.
func slow(ctx context.Context) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
}

func (s *Server) do(ctx context.Context, a ask) (string, error) {
	switch {
	case !s.cfg.Controls:
		return "", errors.New("parameter page.controls is false: this page only shows")
	case !s.allows(a.Token):
		slow(ctx)
		return "", errToken
	case a.Ask == "rollback":
		return s.deeds.Rollback(ctx)
	case a.Ask == "name":
		return s.deeds.Name(ctx, a.Condition)
	}
	return "", fmt.Errorf("%.40q is nothing that can be done", a.Ask)
}

// viewer is what one browser has been sent.
type viewer struct {
	c        *websocket.Conn
	s        *Server
	epoch    uint64
	first    int64
	next     uint64 // row
	paths    uint64
	changes  uint64 // of bundles
	imagines uint64
	rows     []scene.TickRow
	data     []byte
}

// show sends what there is until ctx is done.
func (v *viewer) show(ctx context.Context, answers <-chan any) error {
	t := time.NewTicker(period)
	defer t.Stop()
	for k := 0; ; k++ {
		if err := v.send(ctx, k%every == 0); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-v.s.ended:
			return nil
		case a := <-answers:
			if err := v.json(ctx, a); err != nil {
				return err
			}
		case <-t.C:
		}
	}
}

func (v *viewer) send(ctx context.Context, all bool) (err error) {
	if err := v.sendRows(ctx); err != nil || !all {
		return err
	}
	now := time.Now()
	n := v.s.scene.Snapshot(now)
	if n.Epoch != v.epoch { // it begins anew with the next rows
		return nil
	}
	if n.Paths != v.paths {
		v.paths = n.Paths
		if err := v.json(ctx, reference{"reference", points(n.Path)}); err != nil {
			return err
		}
	}
	if n.Changes != v.changes {
		v.changes = n.Changes
		if err := v.json(ctx, bundlesOf(&n)); err != nil {
			return err
		}
	}
	fresh := int(min(n.Imagines-v.imagines, uint64(len(n.Imagined))))
	v.imagines = n.Imagines
	const drawn = 6 // with their paths
	for k := len(n.Imagined) - fresh; k < len(n.Imagined); k++ {
		if err := v.json(ctx, imaginedOf(&n.Imagined[k], v.first, k >= len(n.Imagined)-drawn)); err != nil {
			return err
		}
	}
	return v.json(ctx, statusOf(&n, now))
}

// sendRows sends the rows since the last time, or begins a history.
func (v *viewer) sendRows(ctx context.Context) error {
	live, ok := v.s.scene, false
	if v.rows, v.next, ok = live.Since(v.epoch, v.next, v.rows[:0]); !ok {
		n := live.Snapshot(time.Now())
		v.epoch, v.first, v.paths, v.imagines = n.Epoch, n.First, n.Paths-1, 0
		v.changes = n.Changes - 1
		h := hello{"hello", v.s.robot, v.s.cfg.Controls, v.s.token != "", stages, words, latentAt, scene.MaxLatent,
			n.Epoch, float64(n.First) / 1e6}
		if err := v.json(ctx, h); err != nil {
			return err
		}
		v.rows, v.next = live.Begin(n.Epoch, shown, whole, thinned, v.rows[:0])
	}
	if len(v.rows) == 0 {
		return nil
	}
	v.data = v.data[:0]
	for i := range v.rows {
		v.data = appendRow(v.data, &v.rows[i], v.first)
	}
	return v.write(ctx, websocket.MessageBinary, v.data)
}

func (v *viewer) json(ctx context.Context, m any) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return v.write(ctx, websocket.MessageText, data)
}

func (v *viewer) write(ctx context.Context, kind websocket.MessageType, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return v.c.Write(ctx, kind, data)
}
