//go:build ignore

// This program writes docs/guide/worlds.md and params/worlds/calm.yaml; go generate runs it.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"vnd/pkg/core/param"
	"vnd/pkg/sim"
)

const worlds = "../../params/worlds"

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	calm := sim.Default()
	text := "# Calm air: every parameter with its default.\n" + param.YAML(sim.Node, &calm)
	if err := os.WriteFile(filepath.Join(worlds, "calm.yaml"), []byte(text), 0o666); err != nil {
		return err
	}
	table, err := rows()
	if err != nil {
		return err
	}
	page, err := template.ParseFiles("worlds.tmpl")
	if err != nil {
		return err
	}
	file, err := os.Create("../../docs/guide/worlds.md")
	if err != nil {
		return err
	}
	defer file.Close()
	return page.Execute(file, map[string]string{"Worlds": table})
}

// rows lists the worlds, each with the comment that its file begins with.
func rows() (string, error) {
	files, err := filepath.Glob(filepath.Join(worlds, "*.yaml"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		w, err := sim.Load(path)
		if err != nil {
			return "", err
		}
		first, _, _ := strings.Cut(string(data), "\n")
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", filepath.Base(path), conditions(&w), schedule(&w),
			strings.TrimPrefix(first, "# "))
	}
	return b.String(), nil
}

func conditions(w *sim.World) string {
	names := w.Names()
	if len(names) > 6 {
		return fmt.Sprint(len(names))
	}
	return strings.Join(names, ", ")
}

func schedule(w *sim.World) string {
	n := len(w.Schedule.Start)
	switch {
	case n == 0:
		return "–"
	case w.Schedule.Period > 0:
		return fmt.Sprintf("%d entries in %v s, repeated", n, w.Schedule.Period)
	}
	return fmt.Sprintf("%d entries, the last at %v s", n, w.Schedule.Start[n-1])
}
