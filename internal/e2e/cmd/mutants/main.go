// Command mutants changes each return value and verdict of packages policy and
// runner/internal/plan that refuses or skips an action, so that it permits the action. In packages
// runner, runner/internal/labels, runner/internal/proposal, runner/internal/command, agent and
// internal/sanitize, and in the file of the plan's proposals, it makes each condition before a return,
// and each case, false.
// It makes one change at a time, called a mutant, and runs the tests of the packages that reach it.
// If no test fails, the mutant survives, which means that a test is missing. survivors.txt lists
// survivors with the reason.
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
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// A target is a package that is changed.
type target struct {
	dir    string   // relative to the root
	suites []string // packages whose tests are run on its mutants; after one fails, the others are not run
	guards bool     // whether conditions before a return, and cases, are mutated, too
	files  []string // without guards, files of which they are mutated
}

const (
	policyDir   = "policy"
	planDir     = "runner/internal/plan"
	runnerDir   = "runner"
	labelsDir   = "runner/internal/labels"
	proposalDir = "runner/internal/proposal"
	commandDir  = "runner/internal/command"
	agentDir    = "agent"
	sanitizeDir = "internal/sanitize"
)

// targets returns the packages in their order.
func targets() []target {
	return []target{
		{dir: policyDir, suites: []string{policyDir, planDir, runnerDir}},
		{dir: planDir, suites: []string{planDir, runnerDir}, files: []string{"propose.go"}},
		{dir: runnerDir, suites: []string{runnerDir}, guards: true},
		{dir: labelsDir, suites: []string{labelsDir}, guards: true},
		{dir: proposalDir, suites: []string{proposalDir, commandDir, runnerDir}, guards: true},
		{dir: commandDir, suites: []string{commandDir, runnerDir}, guards: true},
		{dir: agentDir, suites: []string{agentDir}, guards: true},
		{dir: sanitizeDir, suites: []string{sanitizeDir}, guards: true},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.root, "root", ".", "root of the module")
	flag.StringVar(&o.out, "out", "", "page to write the result to")
	flag.IntVar(&o.sample, "sample", 0, "how many mutants to run, chosen by -seed; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the sample")
	flag.StringVar(&o.match, "match", "", "only the mutants whose line in -list matches this regular expression")
	flag.BoolVar(&o.list, "list", false, "list the mutants without running them")
	flag.IntVar(&o.parallel, "parallel", runtime.GOMAXPROCS(0), "how many mutants run at a time")
	flag.StringVar(&o.hints, "hints", "", "file that remembers which test noticed each mutant; that test runs first next time")
	flag.Parse()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

type options struct {
	root, out, match string
	hints            string
	sample, parallel int
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
	match, err := regexp.Compile(o.match)
	if err != nil {
		return fmt.Errorf("-match: %w", err)
	}
	all = slices.DeleteFunc(all, func(m mutant) bool { return !match.MatchString(m.String()) })
	if len(all) == 0 {
		return fmt.Errorf("-match: no mutant's line matches %q; -list lists the mutants", o.match)
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
	accepted, err := readSurvivors()
	if err != nil {
		return err
	}
	t := tester{root: root, work: work, overlay: filepath.Join(work, "overlay.json"), suites: map[string]*suite{}, hints: map[string]string{}}
	if err := writeOverlay(t.overlay, replace); err != nil {
		return err
	}
	if err := t.readHints(o.hints); err != nil {
		return err
	}
	for _, m := range all {
		for _, dir := range suitesOf(m) {
			if err := t.prepare(ctx, dir, max(1, o.parallel)); err != nil {
				return err
			}
		}
	}
	results, err := t.tryAll(ctx, all, max(1, o.parallel), w)
	if err := errors.Join(err, t.writeHints(o.hints, results)); err != nil {
		return err
	}
	return report(o, root, results, accepted, w)
}

// report writes the page, and returns an error if a mutant survives that has no reason to, or if a
// listed mutant does not survive.
func report(o options, root string, results []result, accepted map[string]string, w io.Writer) error {
	if o.out != "" {
		if err := os.WriteFile(filepath.Join(root, o.out), []byte(page(results, accepted)), 0o644); err != nil {
			return err
		}
	}
	survivors, listed := 0, map[string]bool{}
	for _, r := range results {
		if r.by != "" {
			continue
		}
		if accepted[r.key()] == "" {
			survivors++
		}
		listed[r.key()] = true
	}
	fmt.Fprintf(w, "%d mutants, %d survived without a reason, %d with one\n", len(results), survivors, len(listed)-min(survivors, len(listed)))
	if survivors > 0 {
		return fmt.Errorf("%d mutants survived: for each, a test is missing that fails when the condition or refusal is removed; or list it with a reason in %s", survivors, survivorsFile)
	}
	if o.match == "" && o.sample == 0 {
		for _, key := range slices.Sorted(maps.Keys(accepted)) {
			if !listed[key] {
				return fmt.Errorf("%s lists a mutant that does not survive; remove it: %s", survivorsFile, key)
			}
		}
	}
	return nil
}

// find returns the mutants of all packages, and the changed copies by the path of the original
// file.
func find(root, work string) (all []mutant, replace map[string]string, err error) {
	replace = map[string]string{}
	for _, t := range targets() {
		declared := map[string]bool{}
		list, err := mutate(root, t, work, replace, declared)
		if err != nil {
			return nil, nil, fmt.Errorf("mutate %s: %w", t.dir, err)
		}
		if names := missing(filepath.Base(t.dir), declared); len(names) > 0 {
			return nil, nil, fmt.Errorf("mutate %s: the package does not declare %s; correct the names in mutate.go", t.dir, strings.Join(names, ", "))
		}
		all = append(all, list...)
	}
	return all, replace, nil
}
