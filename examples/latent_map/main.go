// Command latent_map draws the latents of flights by their condition: what the encoder tells apart without being told.
//
//	go run ./examples/latent_map examples/own_world/world.yaml build/latents.png
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/sim"
	"vnd/pkg/viz/plot"
	"vnd/pkg/vnd"
)

const seconds, dt = 12, 0.02 // of a flight; of a row

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: latent_map WORLD.yaml PICTURE.png")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(file, picture string) error {
	world, err := sim.Load(file)
	if err != nil {
		return err
	}
	var flights []quad.Flight
	for i, condition := range world.Names() {
		rows, err := fly(world, condition, uint64(i))
		if err != nil {
			return err
		}
		flights = append(flights, quad.Flight{Name: condition, Segments: quad.Segments(rows, dt)})
	}
	var config fit.Config
	param.Default(&config)
	config.Model.Hidden, config.Model.EncoderHidden, config.Loss.Steps = 32, 24, 5
	config.Train.Updates, config.Train.Batch, config.Train.Validation = 200, 32, 0
	fitted, err := quadfit.Run(context.Background(), config, dt, dataset.FromFlights(flights), fit.Options{Seed: 1})
	if err != nil {
		return err
	}

	var groups []plot.LatentGroup
	for _, f := range flights {
		group := plot.LatentGroup{Name: f.Name}
		latents := vnd.Latents(fitted.Model, quadfit.Robot(fitted), f.Segments, 5)
		for z := range slices.Chunk(latents, config.Model.Latent) {
			group.Latents = append(group.Latents, wide(z))
		}
		fmt.Printf("%s: %d windows\n", f.Name, len(group.Latents))
		groups = append(groups, group)
	}
	return atomicfile.WriteFile(picture, func(w io.Writer) error {
		return plot.LatentPlane(w, "Latents in "+filepath.Base(file), groups)
	})
}

// wide is z in float64.
func wide(z []float32) (out []float64) {
	for _, x := range z {
		out = append(out, float64(x))
	}
	return out
}
