// vnd is the command line: it fits models to flights, scores them, trains and flies policies, replays bags, runs the
// demo and the studies, and looks for mistakes.
package main

import "vnd/pkg/cli"

func main() { cli.Main() }
