package ros_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
)

// refuse tells a caller why.
func refuse(r *stdsrvs.SetBoolResponse, err error) { r.Success, r.Message = false, err.Error() }

// Requests beyond the limits of a service are refused without its handler.
func TestRequestLimits(t *testing.T) {
	for _, c := range []struct {
		name, want string
		limits     ros.RequestLimits
	}{
		{"within", "armed: true", ros.RequestLimits{Bytes: 100, Waiting: 1}},
		{"too large", "a request of ", ros.RequestLimits{Bytes: 3}},
		{"late", "late: true true", ros.RequestLimits{Late: func(queued, sent time.Duration) error {
			if queued >= 0 && queued < time.Minute && sent > -time.Second && sent < time.Minute {
				return errors.New("late: true true")
			}
			return nil
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := inproc.NewDomain()
			server, client := newNode(t, join(t, d, nil), "server"), newNode(t, join(t, d, nil), "client")
			arm(t, server, "arm", ros.WithRequestLimits(c.limits, refuse))
			spin(t, server.Context(), 0)
			spin(t, client.Context(), 0)
			r, err := newArmClient(t, client, "arm").Call(within(t), &stdsrvs.SetBoolRequest{Data: true})
			if err != nil || !strings.HasPrefix(r.Message, c.want) {
				t.Errorf("%+v, %v, expected %s", r, err, c.want)
			}
		})
	}
}

// Requests that wait behind a slow one are bounded: those beyond it are never carried out.
func TestWaitingRequestsAreBounded(t *testing.T) {
	d := inproc.NewDomain()
	server, client := newNode(t, join(t, d, nil), "server"), newNode(t, join(t, d, nil), "client")
	release := make(chan struct{})
	must(ros.NewService(server, "slow", func(*stdsrvs.SetBoolRequest, *stdsrvs.SetBoolResponse) {
		<-release
	}, ros.WithRequestLimits(ros.RequestLimits{Waiting: 4}, refuse)))(t)
	quick := server.Context().NewGroup(ros.Exclusive)
	arm(t, server, "arm", ros.InGroup(quick))
	spin(t, server.Context(), 2)
	spin(t, client.Context(), 0)
	slow, other := newArmClient(t, client, "slow"), newArmClient(t, client, "arm")
	for _, c := range []*armClient{slow, other} {
		if err := c.WaitForService(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	answered := make(chan error, 100)
	for range 50 {
		if err := slow.Send(&stdsrvs.SetBoolRequest{}, func(_ *stdsrvs.SetBoolResponse, err error) {
			answered <- err
		}); err != nil {
			t.Fatal(err)
		}
		call(t, other, true) // the one before was taken
	}
	close(release)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
	defer cancel()
	for n := 0; ; n++ {
		select {
		case <-answered:
		case <-ctx.Done():
			if n < 4 || n > 5 {
				t.Errorf("%d requests were carried out, expected the one that ran and four that waited", n)
			}
			return
		}
	}
}
