package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// outcome is what became of a mutation.
type outcome string

const (
	noticed  outcome = "noticed"
	survived outcome = "survived"
	broken   outcome = "does not build"
)

// result is a mutation with its outcome.
type result struct {
	mutation
	outcome outcome
	by      string // tests that failed
	took    time.Duration
}

// tryAll tries every mutation in copies of the sources below the working folder, and prints each as it ends.
// Tests that fail without a mutation are an error.
func tryAll(ctx context.Context, all []mutation, jobs int, limit time.Duration, out io.Writer) ([]result, error) {
	results := make([]result, len(all))
	queue := make(chan int, len(all))
	for i := range all {
		queue <- i
	}
	close(queue)
	var sound sync.Map // tests that pass without a mutation
	var printing sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	for range max(1, jobs) {
		group.Go(func() error {
			dir, err := os.MkdirTemp("", "vnd-mutate-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			if err := copyTree(dir, "."); err != nil {
				return err
			}
			for i := range queue {
				r, err := try(ctx, dir, all[i], limit, &sound)
				if err != nil {
					return err
				}
				results[i] = r
				printing.Lock()
				fmt.Fprintf(out, "%-14s %5.1f s  %s: %s\n", r.outcome, r.took.Seconds(), r.name, r.by)
				printing.Unlock()
			}
			return nil
		})
	}
	return results, group.Wait()
}

// try runs the tests of one mutation in the copy dir, before and after it is applied.
func try(ctx context.Context, dir string, m mutation, limit time.Duration, sound *sync.Map) (result, error) {
	tests := strings.Join(m.test, " ")
	if _, known := sound.Load(tests); !known {
		output, err := goTest(ctx, dir, m.test, limit)
		if err != nil {
			return result{}, fmt.Errorf("go test %s fails without a mutation: %w\n%s", tests, err, output)
		}
		if passes.FindString(output) == "" {
			return result{}, fmt.Errorf("go test %s runs no test", tests)
		}
		sound.Store(tests, true)
	}
	file := filepath.Join(dir, m.file)
	text, err := os.ReadFile(file)
	if err != nil {
		return result{}, err
	}
	mutated, err := m.apply(string(text))
	if err != nil {
		return result{}, err
	}
	if err := os.WriteFile(file, []byte(mutated), 0o644); err != nil {
		return result{}, err
	}
	start := time.Now()
	output, failed := goTest(ctx, dir, m.test, limit)
	r := result{m, classify(output, failed), failures(output), time.Since(start)}
	if r.outcome == noticed && r.by == "" {
		r.by = "time limit"
	}
	if err := ctx.Err(); err != nil {
		return result{}, err
	}
	return r, os.WriteFile(file, text, 0o644)
}

func goTest(ctx context.Context, dir string, args []string, limit time.Duration) (string, error) {
	ctx, stop := context.WithTimeout(ctx, limit+time.Minute) // go test's own limit leaves out the build
	defer stop()
	args = slices.Concat([]string{"test", "-vet=off", "-timeout", limit.String()}, args)
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.WaitDelay = time.Second
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	return output.String(), err
}

var (
	buildFailed = regexp.MustCompile(`(?m)^FAIL\t\S+ \[(?:build|setup) failed\]$`)
	testFailed  = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	passes      = regexp.MustCompile(`(?m)^ok  \t\S+\t(?:[0-9.]+s|\(cached\))$`) // not "[no tests to run]"
	panicked    = regexp.MustCompile(`(?m)^panic: .*`)
)

func classify(output string, failed error) outcome {
	switch {
	case failed == nil:
		return survived
	case buildFailed.MatchString(output):
		return broken
	}
	return noticed
}

// failures names up to three tests that failed.
func failures(output string) string {
	var names []string
	for _, found := range testFailed.FindAllStringSubmatch(output, -1) {
		names = append(names, found[1])
	}
	if names == nil {
		return panicked.FindString(output)
	}
	if more := len(names) - 3; more > 0 {
		names = append(names[:3], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// copyTree copies the sources, without git's folder and what was built.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, path)
		switch {
		case d.IsDir() && slices.Contains([]string{".git", "bin", "build"}, path):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	})
}
