// vnd fits models of a robot's dynamics to its flights, predicts with them and scores them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"vnd/pkg/tool"
)

func main() {
	// The first signal asks a fit to keep what it has; a second one kills, as ever.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(tool.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
