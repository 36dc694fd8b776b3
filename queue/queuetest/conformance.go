// Package queuetest tests implementations of queue.Queue, queue.Slots and queue.Pauses: every
// implementation passes [Run], [RunSlots] or [RunPauses]. A test case is a section of a script file in testdata (one file per topic), or
// a function if a script is not enough.
package queuetest

import (
	"cmp"
	"embed"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Run runs the tests for queue.Queue. open is called once per subtest, and may use t.Cleanup to
// close its stores.
func Run(t *testing.T, open func(t *testing.T) Pair) {
	t.Helper()
	run(t, Cases(), open)
}

// RunSlots runs the tests for queue.Slots. open is used as in Run.
func RunSlots(t *testing.T, open func(t *testing.T) Pair) {
	t.Helper()
	run(t, SlotCases(), open)
}

// RunPauses runs the tests for queue.Pauses, with the queue that they hold. open is used as in Run.
func RunPauses(t *testing.T, open func(t *testing.T) Pair) {
	t.Helper()
	run(t, PauseCases(), open)
}

func run(t *testing.T, cases []Case, open func(t *testing.T) Pair) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Test(t, open(t))
		})
	}
}

// Cases returns the test cases for queue.Queue, sorted by name.
func Cases() []Case {
	all := slices.Concat(functionCases(), hostileCases(), parallelCases())
	for _, c := range scripts() {
		if !strings.HasPrefix(c.Name, slotPrefix) && !strings.HasPrefix(c.Name, pausePrefix) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// SlotCases returns the test cases for queue.Slots.
func SlotCases() []Case {
	all := []Case{{"race", slotRace}}
	for _, c := range scripts() {
		if name, ok := strings.CutPrefix(c.Name, slotPrefix); ok {
			all = append(all, Case{name, c.Test})
		}
	}
	return all
}

// PauseCases returns the test cases for queue.Pauses.
func PauseCases() []Case {
	all := pauseCases()
	for _, c := range scripts() {
		if name, ok := strings.CutPrefix(c.Name, pausePrefix); ok {
			all = append(all, Case{name, c.Test})
		}
	}
	return all
}

const (
	slotPrefix  = "slots: "
	pausePrefix = "pauses: "
)

//go:embed testdata/*.txtar
var testdata embed.FS

// scripts returns the test cases in testdata, named by topic and section.
func scripts() []Case {
	var all []Case
	files, err := testdata.ReadDir("testdata")
	if err != nil {
		panic(err) // the files are embedded in the program
	}
	for _, f := range files {
		data, err := testdata.ReadFile(path.Join("testdata", f.Name()))
		if err != nil {
			panic(err)
		}
		topic := strings.ReplaceAll(strings.TrimSuffix(f.Name(), ".txtar"), "_", " ")
		for _, section := range txtar.Parse(data).Files {
			all = append(all, Case{topic + ": " + section.Name, func(tb testing.TB, p Pair) {
				tb.Helper()
				p.player(tb).Play(string(section.Data))
			}})
		}
	}
	return all
}
