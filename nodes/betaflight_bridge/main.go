// Command betaflight_bridge flies a board with Betaflight: commands become sticks.
package main

import "vnd/pkg/node/betaflightbridge"

func main() { betaflightbridge.Main() }
