package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// module is the prefix that is removed from package names.
const module = "github.com/org/foreman-action/"

// An event is a line of go test -json; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// name returns the package and the name of a test, without the module.
func (e event) name() string { return strings.TrimPrefix(e.Package, module) + " " + e.Test }

// A testLog prints the relevant lines of a test run, and collects the skipped tests.
type testLog struct {
	out     io.Writer
	verbose bool
	held    map[string][]string // lines of packages that have not ended, by package
	said    map[string]string   // output of running tests, by test
	skips   []string            // "package Test: reason"
	failed  bool
}

func newTestLog(out io.Writer, verbose bool) *testLog {
	return &testLog{out: out, verbose: verbose, held: map[string][]string{}, said: map[string]string{}}
}

// read processes events until the end of the input. It prints lines that are not events unchanged.
func (l *testLog) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if werr := l.line(line); werr != nil {
				return fmt.Errorf("print the log: %w", werr)
			}
		}
		if err == io.EOF {
			return l.cut()
		}
		if err != nil {
			return fmt.Errorf("read the events: %w", err)
		}
	}
}

func (l *testLog) line(line string) error {
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		return l.print(line)
	}
	switch e.Action {
	case "build-output":
		return l.print(e.Output)
	case "build-fail":
		l.failed = true
	case "output":
		return l.output(e)
	case "skip":
		if e.Test != "" {
			l.skips = append(l.skips, e.name()+": "+reason(l.said[e.name()]))
		}
	case "fail":
		l.failed = true
	}
	if e.Test != "" {
		if e.Action == "pass" || e.Action == "skip" || e.Action == "fail" {
			delete(l.said, e.name())
		}
		return nil
	}
	return l.end(e)
}

func (l *testLog) output(e event) error {
	if e.Test != "" {
		l.said[e.name()] += e.Output
	}
	if l.verbose {
		return l.print(e.Output)
	}
	l.held[e.Package] = append(l.held[e.Package], e.Output)
	return nil
}

// progress matches lines about a test's progress or success.
var progress = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME)|\s*--- PASS|PASS$)`)

// end prints the remaining lines of a package that ended.
func (l *testLog) end(e event) error {
	held := l.held[e.Package]
	switch e.Action {
	case "pass":
		held = slices.DeleteFunc(held, func(s string) bool { return !strings.HasPrefix(s, "ok ") })
	case "fail":
		held = slices.DeleteFunc(held, progress.MatchString)
	case "skip": // a package without tests
		held = nil
	default:
		return nil
	}
	delete(l.held, e.Package)
	return l.print(strings.Join(held, ""))
}

// cut prints the output of packages that never ended.
func (l *testLog) cut() error {
	for _, name := range slices.Sorted(maps.Keys(l.held)) {
		l.failed = true
		if err := l.print(strings.Join(l.held[name], "")); err != nil {
			return err
		}
	}
	return nil
}

func (l *testLog) print(s string) error {
	_, err := io.WriteString(l.out, s)
	return err
}

// place matches the file and line at the start of a message of a test.
var place = regexp.MustCompile(`(?m)^\s*\S+\.go:\d+: `)

// reason returns the last message of a skipped test.
func reason(said string) string {
	places := place.FindAllStringIndex(said, -1)
	if len(places) == 0 {
		return "gives no reason"
	}
	text, _, _ := strings.Cut(said[places[len(places)-1][1]:], "--- SKIP: ")
	return strings.Join(strings.Fields(text), " ")
}
