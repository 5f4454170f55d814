// Command betaflight_bridge flies a board with Betaflight: commands become sticks.
package main

import (
	"os"

	"vnd/pkg/node/betaflightbridge"
	"vnd/pkg/ros2/ros"
)

func main() { ros.MainContext(ros.Options{Args: os.Args[1:]}, betaflightbridge.New) }
