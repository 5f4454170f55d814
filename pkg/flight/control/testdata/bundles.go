//go:build ignore

// This program makes the bundles of the tests, from the top folder, with the tool vnd built to bin/:
//
//	bin/vnd fit --out fit.vnd -p model.latent:=4 -p model.hidden:=16 -p model.encoder_hidden:=16 -p model.encoder_dense:=16 -p model.decoder_hidden:=8 -p train.updates:=600 params/demo/flights/train/*.csv
//	bin/vnd train --task hover,track --out a.vnd -p latent:=4 -p hidden:=32 -p epochs:=300 --seed 1
//	bin/vnd train --task hover,track --out b.vnd -p latent:=4 -p hidden:=32 -p epochs:=300 --seed 2
//	bin/vnd train --task hover,land --out land.vnd -p latent:=4 -p hidden:=32 -p epochs:=300 --seed 1
//	bin/vnd train --task features --out features.vnd -p latent:=4 -p hidden:=32 -p epochs:=400 -p observation.camera.state_free:=true --seed 1
//	bin/vnd train --robot rotors --task hover,track --out pkg/flight/control/testdata/motors.vnd --seed 1
//	go run pkg/flight/control/testdata/bundles.go fit.vnd a.vnd b.vnd land.vnd features.vnd
//
// The policies are of the nominal simulator, the model is of real flights; their licence is that of
// params/demo/flights.
package main

import (
	"log"
	"os"
	"path/filepath"

	"vnd/pkg/flight/policy"
	"vnd/pkg/vnd/bundle"
)

func main() {
	for _, path := range os.Args[2:] {
		if err := merge(os.Args[1], path); err != nil {
			log.Fatal(err)
		}
	}
}

func merge(model, path string) error {
	into, err := bundle.Read(model)
	if err != nil {
		return err
	}
	from, err := bundle.Read(path)
	if err != nil {
		return err
	}
	p, err := policy.FromBundle(from)
	if err != nil {
		return err
	}
	if err := policy.Put(into, p, from.Task); err != nil {
		return err
	}
	into.Metrics = nil
	return bundle.Write(filepath.Join("pkg", "flight", "control", "testdata", filepath.Base(path)), into)
}
