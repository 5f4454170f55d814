package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/coder/websocket"

	"vnd/pkg/viz/foxglove"
)

func isFoxglove(r *http.Request) bool {
	return foxglove.Wanted(r.Header.Values("Sec-WebSocket-Protocol"))
}

// visits reports whether an Origin that is not the page itself may connect as Foxglove does. One of no site is a
// program's, such as file:// of Foxglove's own.
func (s *Server) visits(origin string) bool {
	u, err := url.Parse(origin)
	program := err == nil && u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https"
	return program || slices.Contains(s.cfg.Origins, origin)
}

var errFoxgloveToken = errors.New("the token is not right: expected that of the visualizer's parameter page.token, " +
	"which has to be set")

// acts reports whether Foxglove may call services. An Origin proves nothing here: that of any program may connect.
func (s *Server) acts(token string) bool {
	return s.cfg.Controls && s.cfg.Token != "" && same(token, s.cfg.Token)
}

// foxglove serves Foxglove. It may call services with ?token= in its address, on this machine too.
func (s *Server) foxglove(w http.ResponseWriter, r *http.Request) {
	if s.viewers.Add(1) > mostViewers {
		s.viewers.Add(-1)
		http.Error(w, "enough look already", http.StatusServiceUnavailable)
		return
	}
	defer s.viewers.Add(-1)
	token := r.URL.Query().Get("token")
	acts := s.acts(token)
	if s.cfg.Controls && token != "" && !acts {
		slow(r.Context())
		http.Error(w, errFoxgloveToken.Error(), http.StatusForbidden)
		return
	}
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: foxglove.Subprotocols,
		InsecureSkipVerify: true}) // the Origin was looked at
	if err != nil {
		return // the answer has gone out
	}
	defer c.CloseNow()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-s.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := foxglove.Serve(ctx, c, s.robot, s.deeds.Graph, acts); err != nil && ctx.Err() == nil {
		_ = c.Close(websocket.StatusInternalError, "this connection did not keep up")
	}
}
