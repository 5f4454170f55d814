//go:build cgo

package overdds_test

import (
	"sync/atomic"
	"testing"

	"vnd/pkg/ros2/dds/fastdds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/rmw/overdds"
	"vnd/pkg/ros2/rmw/rmwtest"
)

var fastDomains atomic.Int64

// openFast opens a context on Fast DDS among those of this process.
func openFast(domain int, distro, enclave string) (rmw.Context, error) {
	p, err := fastdds.Open(fastdds.Config{Domain: domain, Localhost: true, Alone: true,
		UserData: overdds.UserData(enclave)})
	if err != nil {
		return nil, err
	}
	return overdds.New(p, overdds.Options{Distro: distro, Enclave: enclave, SampleIdentity: true})
}

// TestFastDDS runs the conformance suite over Fast DDS.
func TestFastDDS(t *testing.T) {
	if err := fastdds.Installed(); err != nil {
		t.Skip(err)
	}
	for _, distro := range []string{"humble", "jazzy"} {
		t.Run(distro, func(t *testing.T) {
			rmwtest.Run(t, func(testing.TB) rmwtest.Open {
				domain := 200 + int(fastDomains.Add(1)%30)
				return func(enclave string) (rmw.Context, error) { return openFast(domain, distro, enclave) }
			}, rmwtest.History, rmwtest.TwoTypes)
		})
	}
}
