package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
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
)

// survivorsFile has a mutant that may survive in each line, without its line number, and after " # "
// the reason.
const survivorsFile = "internal/e2e/cmd/mutants/survivors.txt"

//go:embed survivors.txt
var survivors string

// readSurvivors returns the reasons by the keys of mutants.
func readSurvivors() (map[string]string, error) {
	reasons := map[string]string{}
	for line := range strings.Lines(survivors) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		i := strings.LastIndex(line, " # ")
		if i < 0 || line[i+3:] == "" {
			return nil, fmt.Errorf("%s: %q has no reason; write it after \" # \"", survivorsFile, line)
		}
		reasons[line[:i]] = line[i+3:]
	}
	return reasons, nil
}

// suitesOf returns the packages whose tests run on a mutant.
func suitesOf(m mutant) []string {
	for _, t := range targets() {
		if t.dir == m.dir {
			return t.suites
		}
	}
	return nil
}

// A suite is the compiled tests of a package.
type suite struct {
	dir     string // of the package
	program string
	// reaching lists the tests that reach a mutant, by its ID.
	reaching map[string][]string
	// took is the time of each test without a mutant.
	took map[string]time.Duration
}

// A tester runs tests on mutants.
type tester struct {
	root, work, overlay string
	suites              map[string]*suite // by folder
	hints               map[string]string // the test that noticed a mutant last time, by its key
}

// A result is the outcome of one mutant.
type result struct {
	mutant

	by   string // the package whose tests notice the mutant; empty if it survived
	test string // the first test that failed; empty if it is not known
}

func (r result) String() string {
	if r.by == "" {
		return "SURVIVED"
	}
	return strings.TrimSuffix("noticed by "+r.by+" "+r.test, " ")
}

// prepare compiles the tests of a package with all mutants, if this has not been done. It then runs
// each test without a mutant in effect, to see that it passes and which mutants it reaches.
func (t tester) prepare(ctx context.Context, dir string, parallel int) error {
	if t.suites[dir] != nil {
		return nil
	}
	s := &suite{
		dir: filepath.Join(t.root, dir), program: filepath.Join(t.work, strings.ReplaceAll(dir, "/", "_")+".test"),
		reaching: map[string][]string{}, took: map[string]time.Duration{},
	}
	c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", t.overlay, "-o", s.program, "./"+dir)
	c.Dir = t.root
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the tests of %s with the mutants: %w\n%s", dir, err, out)
	}
	c = exec.CommandContext(ctx, s.program, "-test.list=.")
	c.Dir = s.dir
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("list the tests of %s: %w", dir, err)
	}
	// TestWebAssembly compiles the package again without the mutants.
	names := slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return name == "TestWebAssembly" })
	reached, took := make([][]string, len(names)), make([]time.Duration, len(names))
	err = each(ctx, parallel, len(names), func(ctx context.Context, i int) error {
		file := s.program + "." + names[i]
		start := time.Now()
		code, out, err := s.run(ctx, names[i:i+1], reachedVariable+"="+file)
		took[i] = time.Since(start)
		if err != nil {
			return fmt.Errorf("run %s of %s without a mutant: %w", names[i], dir, err)
		}
		if code != 0 {
			return fmt.Errorf("%s of %s fails without a mutant:\n%s", names[i], dir, out)
		}
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) { // it reaches none
			return nil
		}
		reached[i] = strings.Fields(string(data))
		return err
	})
	order := make([]int, len(names)) // tests that reach few mutants first: they notice these most likely
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(len(reached[i]), len(reached[j])) })
	for _, i := range order {
		s.took[names[i]] = took[i]
		for _, id := range reached[i] {
			s.reaching[id] = append(s.reaching[id], names[i])
		}
	}
	t.suites[dir] = s
	return err
}

// tryAll tries all mutants, several at a time.
func (t tester) tryAll(ctx context.Context, all []mutant, parallel int, w io.Writer) ([]result, error) {
	results := make([]result, len(all))
	var mu sync.Mutex
	err := each(ctx, parallel, len(all), func(ctx context.Context, i int) error {
		r, err := t.try(ctx, all[i])
		mu.Lock()
		defer mu.Unlock()
		results[i] = r
		if err == nil {
			fmt.Fprintf(w, "%s: %s\n", all[i], r)
		}
		return err
	})
	return results, err
}

// each calls f for the numbers below n, several at a time, until one fails.
func each(ctx context.Context, parallel, n int, f func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for i := range next {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// together is the number of tests that run in one process.
const together = 8

// try runs the tests that reach a mutant, package by package, until one fails.
func (t tester) try(ctx context.Context, m mutant) (result, error) {
	for _, dir := range suitesOf(m) {
		s := t.suites[dir]
		tests := s.reaching[m.id]
		tries := slices.Collect(slices.Chunk(tests, together))
		if hint := t.hints[m.key()]; slices.Contains(tests, hint) {
			tries = slices.Insert(tries, 0, []string{hint})
		}
		for _, names := range tries {
			code, out, err := s.run(ctx, names, variable+"="+m.id)
			if err != nil {
				return result{}, err
			}
			if code == 0 {
				continue
			}
			failed, err := noticed(code, out)
			if err != nil {
				return result{}, err
			}
			if failed {
				return result{m, dir, firstFailed(out)}, nil
			}
		}
	}
	return result{mutant: m}, nil
}

// run runs tests with a variable in the environment, and returns the exit code with the output.
func (s *suite) run(ctx context.Context, tests []string, variable string) (code int, out string, err error) {
	// A condition that ends a loop can be the mutant: the memory and the time are limited.
	c := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 4194304; exec "$0" "$@"`, s.program,
		"-test.failfast", "-test.timeout="+s.limit(tests).String(), "-test.run=^("+strings.Join(tests, "|")+")$")
	c.Dir = s.dir
	c.Env = append(os.Environ(), variable)
	c.WaitDelay = time.Minute
	text, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return exit.ExitCode(), string(text), nil
	}
	return 0, string(text), err
}

// limit returns the time after which tests count as endless: 20 seconds more than they take one after
// another without a mutant, or 5 minutes if this is not known.
func (s *suite) limit(tests []string) time.Duration {
	limit := 20 * time.Second
	for _, name := range tests {
		took, known := s.took[name]
		if !known {
			return 5 * time.Minute
		}
		limit += took
	}
	return limit
}

// noticed reports whether tests failed, given the exit code and the output of the test program. Tests
// that do not end, or that need too much memory, have failed, too: without the mutant they end.
func noticed(code int, out string) (bool, error) {
	for _, failure := range []string{"--- FAIL: ", "panic: ", "fatal error: "} {
		if strings.Contains(out, failure) {
			return true, nil
		}
	}
	if code < 0 {
		return true, nil
	}
	return false, fmt.Errorf("the tests ended without a result (exit code %d):\n%s", code, out)
}

// failedTest finds a test that failed, or one that was running when the time was over.
var failedTest = regexp.MustCompile(`(?m)^(?:--- FAIL: |\s*running tests:\n\s*)(\w+)`)

// firstFailed returns the first test that failed, and "" if the output does not name one.
func firstFailed(out string) string {
	if m := failedTest.FindStringSubmatch(out); m != nil {
		return m[1]
	}
	return ""
}

// readHints reads which tests noticed the mutants of an earlier run.
func (t tester) readHints(name string) error {
	data, err := os.ReadFile(name)
	if name == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &t.hints)
	}
	return err
}

// writeHints writes the tests that noticed mutants, with those of earlier runs.
func (t tester) writeHints(name string, results []result) error {
	if name == "" {
		return nil
	}
	for _, r := range results {
		if r.test != "" {
			t.hints[r.key()] = r.test
		}
	}
	data, err := json.MarshalIndent(t.hints, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}
