package task

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/flight/reference"
)

// addHome adds a task for the length of a test.
func addHome(t *testing.T, name string, m Maker) {
	t.Helper()
	list, before := slices.Clone(names), maps.Clone(makers)
	t.Cleanup(func() { names, makers = list, before })
	Add(name, &reference.Hover{Point: []float64{0, 0, 3}}, m)
}

func TestAddedTaskIsMadeByName(t *testing.T) {
	addHome(t, "home", func(c Cost, s Spread, path reference.Reference) (*Task, error) {
		return &Task{Cost: c, Radius: 8, Draw: func(rng *rand.Rand) Episode { return s.Start(path.At, rng) }}, nil
	})
	if list, err := Split("hover,home"); err != nil || len(list) != 2 {
		t.Errorf("split into %q, %v", list, err)
	}
	cost, err := CostOf(StiffCost, "home")
	if err != nil {
		t.Fatal(err)
	}
	k, err := New("home", cost, Spread{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := k.Draw(rand.New(rand.NewPCG(1, 1)))
	if k.Name != "home" || k.Radius != 8 || e.Start.P.Z != 3 || e.Reference(1).P.Z != 3 {
		t.Errorf("%s, radius %g, starts at %v", k.Name, k.Radius, e.Start.P)
	}
}

func TestAddedTaskIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		maker Maker
		want  string
	}{
		"its maker's error": {func(Cost, Spread, reference.Reference) (*Task, error) {
			return nil, errors.New("no home")
		}, "no home"},
		"a cost that is none": {func(Cost, Spread, reference.Reference) (*Task, error) {
			return &Task{}, nil
		}, "Huber"},
	} {
		t.Run(name, func(t *testing.T) {
			addHome(t, "home", c.maker)
			_, err := New("home", Cost{Delta: 1}, Spread{}, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAddRefusesMistakesInTheSource(t *testing.T) {
	for _, name := range []string{"", "a,b", "two words", Hover} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			addHome(t, name, nil)
		})
	}
}
