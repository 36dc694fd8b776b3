// Command bench times the whole program on one event, started as the Actions runner starts it.
// There are ten rules, at most one write, and a fake GitHub on loopback. The start of node is
// timed, too, as a yardstick for the machine. The runs of all scenarios are interleaved, so that a
// busy moment affects all of them. The results are medians. The page compares them with the targets.
//
//	bench -foreman bin/foreman -launch bin/launch [-event FILE] [-originals DIR -import FILE] [-rules FILE] [-n 31] [-out FILE]
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

type options struct {
	foreman, launch string
	event           string
	originals       string
	importer        string // the whole program foreman, which imports the originals' configurations
	n               int
	out             string
	rules           string // file with the output of BenchmarkDecide; empty: none
	size            int64  // of foreman, in bytes
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "foreman-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stage, err := newStage(o, dir)
	if err != nil {
		return err
	}
	defer stage.close()
	scenarios, err := stage.scenarios()
	if err != nil {
		return err
	}
	results, err := measure(scenarios, o.n, func() int { return len(stage.fake.Log()) })
	if err != nil {
		return err
	}
	met := targets(results, o.size)
	if o.rules != "" {
		more, err := decisions(o.rules)
		if err != nil {
			return err
		}
		met = append(met, more...)
	}
	page := report(results, met, machine(), o.n)
	fmt.Fprint(stdout, page)
	if o.out != "" {
		if err := os.WriteFile(o.out, []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.foreman, "foreman", "", "the program to time")
	flags.StringVar(&o.launch, "launch", "", "the launch program beside this one")
	flags.StringVar(&o.event, "event", "testdata/events/issues/opened.payload.json", "the payload")
	flags.IntVar(&o.n, "n", 31, "measured runs of each scenario")
	flags.StringVar(&o.originals, "originals", "", "directory of the published actions to time beside, as TOOL/VERSION")
	flags.StringVar(&o.rules, "rules", "", "file with the output of BenchmarkDecide of package rules")
	flags.StringVar(&o.importer, "import", "", "with -originals, the program that imports their configurations")
	flags.StringVar(&o.out, "out", "", "file that the table is also written to")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.foreman == "" || o.launch == "" || o.n < 1 || flags.NArg() > 0 || (o.originals == "") != (o.importer == "") {
		return o, errors.New("usage: bench -foreman FILE -launch FILE [-event FILE] [-originals DIR -import FILE] [-rules FILE] [-n RUNS] [-out FILE]")
	}
	for _, path := range []*string{&o.foreman, &o.launch, &o.importer} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return o, err
		}
		*path = absolute
	}
	info, err := os.Stat(o.foreman)
	if err != nil {
		return o, err
	}
	o.size = info.Size()
	return o, nil
}

// machine describes the machine: processor, kernel and version of node.
func machine() string {
	parts := []string{processor()}
	for _, command := range [][]string{{"uname", "-srm"}, {"go", "version"}, {"node", "--version"}} {
		if text, err := exec.Command(command[0], command[1:]...).Output(); err == nil {
			parts = append(parts, strings.TrimPrefix(strings.TrimSpace(string(text)), "go version "))
		}
	}
	if last := len(parts) - 1; strings.HasPrefix(parts[last], "v") {
		parts[last] = "node " + parts[last]
	}
	return strings.Join(parts, ", ")
}

func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	count := strings.Count("\n"+string(info), "\nprocessor")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return fmt.Sprintf("%d × %s", count, strings.TrimSpace(value))
		}
	}
	return fmt.Sprintf("%d processors", count)
}
