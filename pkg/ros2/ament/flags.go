//go:build ignore

// This program prints the variables that a shell exports before it builds programs on rclgo.
// make rclgo runs it.
package main

import (
	"fmt"
	"os"
	"strings"

	"vnd/pkg/ros2/ament"
)

func main() {
	w, err := ament.Find(os.Getenv)
	var f *ament.Flags
	if err == nil {
		f, err = w.Rclgo(os.Getenv(ament.Untried))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rclgo:", err)
		os.Exit(1)
	}
	fmt.Printf("export CGO_ENABLED=1 CGO_CFLAGS='%s' CGO_LDFLAGS='%s' ROS_DISTRO='%s'\n",
		strings.Join(f.Compile, " "), strings.Join(f.Link, " "), w.Distro)
}
