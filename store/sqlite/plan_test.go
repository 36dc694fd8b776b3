package sqlite

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// TestPlans pins how SQLite carries out each statement. One that is run often searches an
// index, sorts nothing, and so costs the same with any number of tasks.
func TestPlans(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// Queries of people, and counts: they read every counted row, or all open tasks in a state.
	counting := map[string]bool{"counts": true, "oldest": true, "backlogClaimed": true, "listAgent": true, "listCompleted": true}
	texts := statements()
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		plan := planOf(t, s, texts[name])
		fmt.Fprintf(&got, "%s\n%s", name, plan)
		plan = merged.ReplaceAllString(plan, "")
		plan = strings.NewReplacer("SCAN CONSTANT ROW", "", "SCAN json_each VIRTUAL", "", // the parameters
			"SCAN w\n", "", "SCAN few\n", "").Replace(plan) // the rows found before
		if !counting[name] && (strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE")) {
			t.Errorf("%s reads everything, or sorts:\n%s\n%s", name, texts[name], plan)
		}
	}
	const golden = "testdata/plans.txt"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the plans changed (-want +got); UPDATE=1 rewrites them:\n%s", diff)
	}
}

// merged are the parts of a list, which were found already.
var merged = regexp.MustCompile(`SCAN s\d+\n`)

// statements returns the SQL statements of the queue and the memory, by their names.
func statements() map[string]string {
	d := sqlstore.SQLite()
	all := sqlqueue.Statements(d)
	maps.Copy(all, sqlstore.Statements(d))
	return all
}

// planOf asks for the plan of a statement.
func planOf(t *testing.T, s *Store, statement string) string {
	t.Helper()
	args := make([]any, 20) // as many as a statement has parameters
	var b strings.Builder
	err := s.engine.Read(t.Context(), func(tx sqlstore.Tx) error {
		return tx.Query("EXPLAIN QUERY PLAN "+statement, func(r sqlstore.Row) error {
			var id, parent, unused int64
			var detail string
			err := r.Scan(&id, &parent, &unused, &detail)
			fmt.Fprintf(&b, "  %s\n", detail)
			return err
		}, args...)
	})
	if err != nil {
		t.Fatalf("%s\n%v", statement, err)
	}
	return b.String()
}
