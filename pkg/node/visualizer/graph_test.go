package visualizer

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/coder/websocket"

	stdsrvs "vnd/msgs/std_srvs"
	visualizationmsgs "vnd/msgs/visualization_msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/ros"
)

// shown is what Foxglove has been sent.
type shown struct {
	h       *bench
	c       *websocket.Conn
	markers uint32 // channel of the vehicle's
	land    uint32 // service
	data    []byte // of the newest message where it is binary
}

// next reads a message.
func (x *shown) next() {
	x.h.t.Helper()
	kind, d, err := x.c.Read(x.h.ctx)
	if err != nil {
		x.h.t.Fatal(err)
	}
	if x.data = nil; kind == websocket.MessageBinary {
		x.data = d
		return
	}
	var m struct {
		Channels []struct {
			ID    uint32
			Topic string
		}
		Services []struct {
			ID   uint32
			Name string
		}
	}
	if err := json.Unmarshal(d, &m); err != nil {
		x.h.t.Fatal(err)
	}
	for _, k := range m.Channels {
		if k.Topic == "/quad/visualizer/vehicle" {
			x.markers = k.ID
		}
	}
	for _, k := range m.Services {
		if k.Name == "/quad/policy_controller/land" {
			x.land = k.ID
		}
	}
}

// Foxglove sees the vehicle's markers, a latched topic, as CDR, and calls a service of another node.
func TestFoxglove(t *testing.T) {
	h := newBench(t, "-p", "page.token:=correct-horse")
	must(ros.NewService(h.n, "policy_controller/land", func(_ *stdsrvs.TriggerRequest, a *stdsrvs.TriggerResponse) {
		a.Success, a.Message = true, "lands"
	}))(t)
	c, _, err := websocket.Dial(h.ctx, h.v.page.URL()+"?token=correct-horse",
		&websocket.DialOptions{Subprotocols: []string{"foxglove.sdk.v1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 24)
	x := &shown{h: h, c: c}
	for x.markers == 0 || x.land == 0 {
		x.next()
	}
	ask := fmt.Sprintf(`{"op": "subscribe", "subscriptions": [{"id": 1, "channelId": %d}]}`, x.markers)
	if err := c.Write(h.ctx, websocket.MessageText, []byte(ask)); err != nil {
		t.Fatal(err)
	}
	h.until("Foxglove hears the vehicle", func() bool { return h.v.vehicle.Matched() > 0 })
	h.fly(3)
	for x.data == nil {
		x.next()
	}
	var m visualizationmsgs.MarkerArray
	if err := cdr.Unmarshal(x.data[13:], &m); err != nil || x.data[0] != 1 || len(m.Markers) == 0 {
		t.Errorf("%v, %d markers", err, len(m.Markers))
	}
	call := []byte{2}
	for _, n := range []uint32{x.land, 4, 3} {
		call = binary.LittleEndian.AppendUint32(call, n)
	}
	request := must(cdr.Marshal(&stdsrvs.TriggerRequest{}))(t)
	if err := c.Write(h.ctx, websocket.MessageBinary, append(append(call, "cdr"...), request...)); err != nil {
		t.Fatal(err)
	}
	for x.data == nil || x.data[0] != 3 {
		x.next()
	}
	var r stdsrvs.TriggerResponse
	if err := cdr.Unmarshal(x.data[16:], &r); err != nil || !r.Success || r.Message != "lands" {
		t.Errorf("%+v, %v", r, err)
	}
}
