// Package cli is the command line of vnd: it reads what was typed, calls the packages and says what came of it.
//
// Standard output carries the result: text for people, exactly one JSON object with --json. Everything else, warnings,
// progress and errors, goes to standard error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"vnd/pkg/core/dist/mpi"
)

// commands is what can be typed after `vnd`.
type commands struct {
	JSON bool `name:"json" help:"Print one JSON object instead of text."`

	Fit     fitCommand     `cmd:"" help:"Fit a model to recorded flights."`
	Predict predictCommand `cmd:"" help:"Predict a flight open loop, from its true states with its recorded commands."`
	Score   scoreCommand   `cmd:"" help:"Score predictions on flights, beside simple baselines."`
	Train   trainCommand   `cmd:"" help:"Train a policy by back-propagation through time, in the nominal simulator or in a fitted model."`
	Throw   throwCommand   `cmd:"" help:"Train a policy that catches a thrown robot, and throw it."`
	Eval    evalCommand    `cmd:"" help:"Fly a policy in the full simulator."`
	Loop    loopCommand    `cmd:"" help:"The continual loop in simulation: flights, and rounds of learning."`
	Study   studyCommand   `cmd:"" help:"Measure the continual loop beside what it is compared with, over seeds."`
	Memory  memoryCommand  `cmd:"" help:"Measure what the loop remembers of conditions met one after another."`
	Ablate  ablateCommand  `cmd:"" help:"Measure the continual loop with one thing changed at a time."`
	Sweep   sweepCommand   `cmd:"" help:"Run one of a grid's commands: an array of Slurm or Kubernetes from one file."`
	Bench   benchCommand   `cmd:"" help:"Time the hot paths: policy training, fit, tick."`
	Import  importCommand  `cmd:"" help:"Write the log of an autopilot, or flight CSVs, as a CSV or a rosbag2 bag."`
	Bag     bagCommand     `cmd:"" help:"Look into, recover and export rosbag2 bags."`
	Export  exportCommand  `cmd:"" help:"Write the networks of a bundle as ONNX, or as C for microcontrollers."`
	Replay  replayCommand  `cmd:"" help:"Fly a recorded flight again with the code of the nodes, and compare."`
	Explain explainCommand `cmd:"" help:"Say what the policy saw and did at a tick of a recorded flight."`
	Key     keyCommand     `cmd:"" help:"Make the key that signs bundles; sign one."`
	Doctor  doctorCommand  `cmd:"" help:"Say what is missing or mismatched here, or with --live on a robot."`
	Demo    demoCommand    `cmd:"" help:"What make demo runs: a fit to recorded flights, then learning in flight with the real nodes."`

	Rotors    rotorsCommand    `cmd:"" help:"Models of a quadrotor from rotor speeds or motor commands."`
	Benchmark benchmarkCommand `cmd:"" help:"Public benchmarks, from fit to the published table."`

	Betaflight betaflightCommand `cmd:"" help:"Settings of a board with Betaflight: check, provision."`

	Topic      topicCommand      `cmd:"" help:"Topics of the ROS 2 graph, without ROS: list, echo, hz."`
	Node       nodeCommand       `cmd:"" help:"Nodes of the graph."`
	Action     actionCommand     `cmd:"" help:"Actions of the graph: list, info, send."`
	Param      paramCommand      `cmd:"" help:"Parameters of a node: list, get, set."`
	Call       callCommand       `cmd:"" help:"Call a service."`
	Task       taskCommand       `cmd:"" help:"Have the robot fly a task: hover, track, land."`
	Land       landCommand       `cmd:"" help:"Have the robot land by the guard's law."`
	Rollback   rollbackCommand   `cmd:"" help:"Have the bundle of before fly again."`
	Status     statusCommand     `cmd:"" help:"What flies, what is learned, what is wrong, on one screen."`
	Completion completionCommand `cmd:"" help:"Print a script that completes commands in bash or zsh."`

	Gate     gateCommand     `cmd:"" help:"Measure the gate over robots drawn widely."`
	Campaign campaignCommand `cmd:"" help:"The safety campaign: faults in simulated flights, held to limits."`
}

// result is what a command found. It is marshalled for --json.
type result interface {
	WriteText(io.Writer) error
}

// Main is the program vnd.
func Main() {
	// The first signal asks a fit to keep what it has, and cancels a goal. A later one kills, as ever; some programs
	// send two at once.
	const together = 2 * time.Second
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(together, stop) })
	os.Exit(Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run executes the command line and returns the exit code, 0 only on success. ctx ends it early.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	voice := stderr
	rank, _ := mpi.Started()
	if rank > 0 {
		stdout, stderr = io.Discard, io.Discard
	}
	var c commands
	helped := false
	parser, err := newParser(&c, kong.Writers(stdout, stderr), kong.Exit(func(int) { helped = true }))
	if err != nil {
		fmt.Fprintln(voice, "vnd:", err) // a mistake in the tags above
		return 1
	}
	parsed, err := parser.Parse(args)
	if helped {
		return 0
	}
	con := newConsole(ctx, stdout, stderr, c.JSON || slices.Contains(args, "--json"))
	con.silent, con.voice = rank > 0, voice
	if err != nil {
		return con.fail("vnd", fmt.Errorf("%w (vnd --help lists commands and flags)", err))
	}
	name := "vnd " + strings.Fields(parsed.Command())[0]
	if err := alone(parsed.Command()); err != nil {
		return con.fail(name, err)
	}
	switch err := parsed.Run(con); {
	case errors.Is(err, errSaid):
		return 1
	case err != nil:
		return con.fail(name, named(err, parsed))
	}
	return 0
}

func newParser(c *commands, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(c, append(options, kong.Name("vnd"),
		kong.Description("Variational Neural Dynamics: models of a quadrotor, learned from its own flights."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}))...)
}

// errSaid is for failures that have been said.
var errSaid = errors.New("the command failed")

// errUnwell is for results that were printed and still are no success.
var errUnwell = errors.New("something that is needed is missing or wrong, see above")
