package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestWork checks that the check stops with a warning for workflows and labels that would make it
// slow.
func TestWork(t *testing.T) {
	t.Parallel()
	ar := txtar.Parse([]byte("-- foreman.yml --\nversion: 1\nrules: [{id: a, then: [{add_label: x}]}]\n"))
	var labels strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&labels, "label %d\n", i)
	}
	condition := "github.actor == 'y' || " + strings.TrimSuffix(strings.Repeat("contains(github.event.label.name, 'y') && ", 80), " && ")
	steps := strings.Repeat("      - if: "+condition+"\n", 200)
	workflow := "on: issues\njobs:\n  a:\n    steps:\n" + steps
	ar.Files = append(ar.Files, txtar.File{Name: "labels", Data: []byte(labels.String())},
		txtar.File{Name: ".github/workflows/w.yml", Data: []byte(workflow)})
	if got := check(t, archive{ar}); !strings.Contains(got, "w.yml: warning: checked only in part") {
		t.Errorf("got %s", got)
	}
}
