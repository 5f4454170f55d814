// vnd fits models of a robot's dynamics to its flights, predicts with them and scores them.
package main

import "vnd/pkg/cli"

func main() { cli.Main() }
