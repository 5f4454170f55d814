package overdds_test

import (
	"testing"

	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/rmw/overdds"
	"vnd/pkg/ros2/rmw/rmwtest"
)

// TestInproc runs the conformance suite within a process, in the wire formats of Humble and
// Jazzy.
func TestInproc(t *testing.T) {
	for _, distro := range []string{"humble", "jazzy"} {
		t.Run(distro, func(t *testing.T) {
			rmwtest.Run(t, func(testing.TB) rmwtest.Open {
				domain := inproc.NewDomain()
				return func(enclave string) (rmw.Context, error) {
					return overdds.New(domain.Open(overdds.UserData(enclave)),
						overdds.Options{Distro: distro, Enclave: enclave})
				}
			})
		})
	}
}
