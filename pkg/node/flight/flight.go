// Package flight hosts the nodes that fly, policy_controller and latent_encoder, in one process. The nodes that write
// and learn, transition_recorder and background_learner, run as child processes, started anew where they end.
// All of them get its ROS arguments. VND_CHILDREN names other programs, with a comma between; empty has none.
package flight

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"vnd/pkg/node/child"
	"vnd/pkg/node/controller"
	"vnd/pkg/node/encoder"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rosargs"
)

// Run flies until ctx is done, then waits for the children.
func Run(ctx context.Context, args []string) error {
	args = shared(args)
	paths, err := children()
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	// Threads as in the processes of the two nodes.
	return ros.Run(ctx, ros.Options{Args: args, Threads: 11}, func(ctx context.Context, c *ros.Context) error {
		n, err := controller.New(ctx, c)
		if err != nil {
			return err
		}
		if _, err := encoder.New(c); err != nil {
			return err
		}
		for _, path := range paths {
			running.Go(func() {
				child.Run(ctx, path, args, child.Options{Log: func(line string) { n.Log().Error().Msg(line) }})
			})
		}
		return nil
	})
}

// shared marks each -p of args as for whatever nodes have the parameter: no node here has all of them.
func shared(args []string) []string {
	args = slices.Clone(args)
	for i := 1; i < len(args); i++ {
		name, _, _ := strings.Cut(args[i], ":=")
		if before := args[i-1]; (before == "-p" || before == "--param") && !strings.Contains(name, ":") {
			args[i] = rosargs.Shared + args[i]
		}
	}
	return args
}

// children are the programs that run beside.
func children() (paths []string, err error) {
	names, set := os.LookupEnv("VND_CHILDREN")
	if !set {
		names = "transition_recorder,background_learner"
	}
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' }) {
		path, err := child.Sibling(name)
		if err != nil {
			return nil, fmt.Errorf("VND_CHILDREN: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
