// Command mutants changes each return value and verdict of packages policy and
// runner/internal/plan that refuses or skips an action, so that it permits the action. It makes
// one change at a time, called a mutant, and runs the tests of the packages. If no test fails, the
// mutant survives, which means that a test is missing.
//
// All mutants of a package are compiled together, from changed copies of its files. "go test
// -overlay" uses the copies instead of the files, so no file of the module changes. The
// environment variable FOREMAN_MUTANT selects the mutant that takes effect.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A suite is a package whose tests are run on mutants.
type suite struct {
	dir  string   // relative to the root
	from []string // folders of the packages on whose mutants it runs
}

const (
	policyDir = "policy"
	planDir   = "runner/internal/plan"
)

// suites returns the suites in their order. When one fails on a mutant, the following ones are not
// run.
func suites() []suite {
	both := []string{policyDir, planDir}
	return []suite{{policyDir, []string{policyDir}}, {planDir, both}, {"runner", both}}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.root, "root", ".", "root of the module")
	flag.StringVar(&o.out, "out", "", "page to write the result to")
	flag.IntVar(&o.sample, "sample", 0, "how many mutants to run, chosen by -seed; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the sample")
	flag.StringVar(&o.match, "match", "", "only the mutants whose line contains this text")
	flag.BoolVar(&o.list, "list", false, "list the mutants without running them")
	flag.Parse()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

type options struct {
	root, out, match string
	sample           int
	seed             uint64
	list             bool
}

// run runs the tests on all mutants. It returns an error if a mutant survives.
func run(ctx context.Context, o options, w io.Writer) error {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	all, replace, err := find(root, work)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool { return !strings.Contains(m.String(), o.match) })
	if len(all) == 0 {
		return fmt.Errorf("-match: no mutant's line contains %q; -list lists the mutants", o.match)
	}
	if o.sample > 0 && o.sample < len(all) {
		r := rand.New(rand.NewPCG(o.seed, o.seed))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:o.sample]
	}
	if o.list {
		for _, m := range all {
			fmt.Fprintln(w, m)
		}
		return nil
	}
	t := tester{root: root, work: work, overlay: filepath.Join(work, "overlay.json"), built: map[string]string{}}
	if err := writeOverlay(t.overlay, replace); err != nil {
		return err
	}
	results := make([]result, 0, len(all))
	for _, m := range all {
		r, err := t.try(ctx, m)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n", m, r)
		results = append(results, r)
	}
	if o.out != "" {
		if err := os.WriteFile(filepath.Join(root, o.out), []byte(page(results)), 0o644); err != nil {
			return err
		}
	}
	survivors := 0
	for _, r := range results {
		if r.by == "" {
			survivors++
		}
	}
	fmt.Fprintf(w, "%d mutants, %d survived\n", len(results), survivors)
	if survivors > 0 {
		return fmt.Errorf("%d mutants survived: for each, a test is missing that fails when the refusal is removed", survivors)
	}
	return nil
}

// find returns the mutants of all packages, and the changed copies by the path of the original
// file.
func find(root, work string) (all []mutant, replace map[string]string, err error) {
	replace = map[string]string{}
	for _, dir := range []string{policyDir, planDir} {
		declared := map[string]bool{}
		list, err := mutate(root, dir, work, replace, declared)
		if err != nil {
			return nil, nil, fmt.Errorf("mutate %s: %w", dir, err)
		}
		if names := missing(filepath.Base(dir), declared); len(names) > 0 {
			return nil, nil, fmt.Errorf("mutate %s: the package does not declare %s; correct the names in mutate.go", dir, strings.Join(names, ", "))
		}
		all = append(all, list...)
	}
	return all, replace, nil
}

// A tester runs tests on mutants.
type tester struct {
	root, work, overlay string
	built               map[string]string // paths of compiled tests, by folder
}

// A result is the outcome of one mutant.
type result struct {
	mutant

	by string // the package whose tests notice the mutant; empty if it survived
}

func (r result) String() string {
	if r.by == "" {
		return "SURVIVED"
	}
	return "noticed by " + r.by
}

// try runs the suites on a mutant until one fails.
func (t tester) try(ctx context.Context, m mutant) (result, error) {
	for _, s := range suites() {
		if !slices.Contains(s.from, m.dir) {
			continue
		}
		program, err := t.build(ctx, s.dir)
		if err != nil {
			return result{}, err
		}
		failed, err := t.fails(ctx, s.dir, program, m.id)
		if err != nil {
			return result{}, err
		}
		if failed {
			return result{m, s.dir}, nil
		}
	}
	return result{m, ""}, nil
}

// build compiles the tests of a package, with all mutants, if this has not been done. It then runs
// the tests without a mutant in effect; they must pass.
func (t tester) build(ctx context.Context, dir string) (string, error) {
	if p := t.built[dir]; p != "" {
		return p, nil
	}
	program := filepath.Join(t.work, strings.ReplaceAll(dir, "/", "_")+".test")
	c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", t.overlay, "-o", program, "./"+dir)
	c.Dir = t.root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile the tests of %s with the mutants: %w\n%s", dir, err, out)
	}
	failed, err := t.fails(ctx, dir, program, "")
	if err != nil {
		return "", err
	}
	if failed {
		return "", fmt.Errorf("the tests of %s fail without a mutant", dir)
	}
	t.built[dir] = program
	return program, nil
}

// fails reports whether the tests of a package fail on a mutant. If the tests run out of time or
// are killed, it returns an error, because this does not mean that they noticed the mutant.
func (t tester) fails(ctx context.Context, dir, program, id string) (bool, error) {
	// TestWebAssembly is skipped, because it compiles the package again without the mutants.
	c := exec.CommandContext(ctx, program, "-test.failfast", "-test.timeout=10m", "-test.skip=^TestWebAssembly$")
	c.Dir = filepath.Join(t.root, dir)
	c.Env = append(os.Environ(), variable+"="+id)
	c.WaitDelay = time.Minute
	out, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return noticed(exit.ExitCode(), string(out))
	}
	return false, err
}

// noticed reports whether tests failed. It decides by the exit code and the output of the test
// program.
func noticed(code int, out string) (bool, error) {
	failed := strings.Contains(out, "--- FAIL: ") || strings.Contains(out, "panic: ")
	if code < 0 || !failed || strings.Contains(out, "panic: test timed out") {
		return false, fmt.Errorf("the tests ended without a result (exit code %d):\n%s", code, out)
	}
	return true, nil
}
