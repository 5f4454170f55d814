// Command latent_map encodes flights with a bundle's model and draws their latents in the plane of the first two
// principal components, a colour for each flight.
//
//	go run ./examples/latent_map BUNDLE map.png FLIGHT.csv…
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/atomicfile"
	"vnd/pkg/viz/plot"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 4 {
		log.Fatal("usage: latent_map BUNDLE PICTURE.png FLIGHT.csv…")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		log.Fatal(err)
	}
}

func run(file, picture string, flights []string) error {
	b, err := bundle.Read(file)
	if err != nil {
		return err
	}
	model, robot, err := vnd.FromBundle(b)
	if err != nil {
		return err
	}
	var groups []plot.LatentGroup
	for _, name := range flights {
		flight, _, err := flightlog.ReadCSV(name, flightlog.DefaultOptions())
		if err != nil {
			return err
		}
		const stride = 10 // rows from one window to the next
		group := plot.LatentGroup{Name: flight.Name}
		for z := range slices.Chunk(vnd.Latents(model, robot, flight.Segments, stride), model.Net.Latent) {
			row := make([]float64, len(z))
			for i, x := range z {
				row[i] = float64(x)
			}
			group.Latents = append(group.Latents, row)
		}
		fmt.Printf("%s: %d windows of %d numbers\n", flight.Name, len(group.Latents), model.Net.Latent)
		groups = append(groups, group)
	}
	return atomicfile.WriteFile(picture, func(w io.Writer) error {
		return plot.LatentPlane(w, "Latents of flights", groups)
	})
}
