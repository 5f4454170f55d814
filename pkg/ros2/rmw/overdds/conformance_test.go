package overdds_test

import (
	"testing"

	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/rmw/overdds"
	"vnd/pkg/ros2/rmw/rmwtest"
)

// TestInproc runs the conformance suite within a process, in the wire formats of Humble and
// Jazzy, and with either mapping of services.
func TestInproc(t *testing.T) {
	for name, o := range map[string]overdds.Options{
		"humble": {Distro: "humble"}, "jazzy": {Distro: "jazzy"},
		"identity of samples": {Distro: "humble", SampleIdentity: true},
	} {
		t.Run(name, func(t *testing.T) {
			rmwtest.Run(t, func(testing.TB) rmwtest.Open {
				domain := inproc.NewDomain()
				return func(enclave string) (rmw.Context, error) {
					o.Enclave = enclave
					return overdds.New(domain.Open(overdds.UserData(enclave)), o)
				}
			})
		})
	}
}
