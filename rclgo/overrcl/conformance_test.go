package overrcl_test

import (
	"os"
	"testing"

	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/rmw/rmwtest"
	"vnd/rclgo/overrcl"
)

// domain is one of this process' own, which hardly anybody has, and the next ones.
func domain() uint { return 102 + uint(os.Getpid())%100 }

// TestConformance runs the conformance suite over the RMW_IMPLEMENTATION of the environment,
// without the features that rcl lacks. CYCLONEDDS_URI or FASTRTPS_DEFAULT_PROFILES_FILE keep
// it on the loopback.
func TestConformance(t *testing.T) {
	at := domain() // one for each test: a middleware may not leave at once
	rmwtest.Run(t, func(testing.TB) rmwtest.Open {
		at++
		return func(enclave string) (rmw.Context, error) {
			return overrcl.Open(overrcl.Options{Enclave: enclave, Domain: at})
		}
	}, rmwtest.SourceTime, rmwtest.History, rmwtest.TwoTypes, rmwtest.SameName)
}
