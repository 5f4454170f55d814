package ros_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"vnd/pkg/ros2/dds/fastdds"
	"vnd/pkg/ros2/rmw"
)

// BenchmarkRoundTripFastDDS is BenchmarkRoundTrip over Fast DDS, beside a program in C++ that sends as many bytes.
func BenchmarkRoundTripFastDDS(b *testing.B) {
	if err := fastdds.Installed(); err != nil {
		b.Skip(err)
	}
	program := filepath.Join(b.TempDir(), "roundtrip")
	out, err := exec.Command("g++", "-std=c++17", "-O2", "-Wno-deprecated-declarations", "-o", program,
		"../dds/fastdds/testdata/bench/roundtrip.cpp", "-lfastrtps").CombinedOutput()
	if err != nil {
		b.Fatalf("g++: %v\n%s", err, out)
	}
	domain := fmt.Sprint(171 + os.Getpid()%30)
	awakeAndAsleep(b, func(b *testing.B) {
		compare(b, []trip{{name: "ros", ping: rosPing(b, speaking(rmw.FastDDS))},
			{name: "c++", ping: timed(b, program, []string{"echo", domain}, []string{"ping", domain})}})
	})
}
