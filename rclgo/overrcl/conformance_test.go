package overrcl_test

import (
	"os"
	"testing"

	"vnd/pkg/rmw"
	"vnd/pkg/rmw/rmwtest"
	"vnd/rclgo/overrcl"
)

// TestConformance: the whole contract over the RMW_IMPLEMENTATION of the environment, but for what rcl has no way to do.
// CYCLONEDDS_URI or FASTRTPS_DEFAULT_PROFILES_FILE keep it on the loopback.
func TestConformance(t *testing.T) {
	domain := uint(os.Getpid() % 60) // and one for each test: a middleware may not leave at once
	rmwtest.Run(t, func(testing.TB) rmwtest.Open {
		domain++
		return func(enclave string) (rmw.Context, error) {
			return overrcl.Open(overrcl.Options{Enclave: enclave, Domain: domain})
		}
	}, rmwtest.SourceTime, rmwtest.History, rmwtest.TwoTypes, rmwtest.Twins)
}
