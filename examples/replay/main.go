// Command replay has the code of the nodes fly again what a bag recorded, and prints the ticks whose commands differ.
//
//	go run ./examples/replay BAG BUNDLE…
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"vnd/pkg/node/replay"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: replay BAG [BUNDLE…]")
	}
	const parameters = "" // file of policy_controller as it flew; none for the defaults
	report, err := replay.Run(context.Background(), os.Args[1], parameters, os.Args[2:], nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d ticks of the policy in %.1f s of flight, %d to the bit, %d within rounding\n",
		report.Policy, report.Flight, report.Exact, report.Within)
	if report.FirstOff != nil {
		fmt.Printf("the first that differs is %d, the largest difference %.3g m/s² or rad/s\n",
			*report.FirstOff, report.Worst)
	}
}
