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

	"github.com/org/foreman-action/store/internal/sqlhistory"
	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// TestPlans pins the query plan of each statement. A frequent statement searches an index and
// does not sort, so that it costs the same with any number of tasks.
func TestPlans(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// These statements may scan or sort: they list tasks for people, or count rows. searchRepoWindow merges
	// the numbers of at most queue.MaxExamined tasks.
	counting := map[string]bool{"searchRepoWindow": true, "counts": true, "oldest": true, "backlogClaimed": true, "busyAll": true, "busyAgent": true, "busyRepo": true, "listAgent": true, "listCompleted": true}
	texts := statements()
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		plan := planOf(t, s, texts[name])
		fmt.Fprintf(&got, "%s\n%s", name, plan)
		plan = merged.ReplaceAllString(plan, "")
		plan = strings.NewReplacer("SCAN CONSTANT ROW", "", "SCAN json_each VIRTUAL", "", // the parameters
			"SCAN w\n", "", "SCAN few\n", "", "SCAN f\n", "", // the rows of subqueries
			"SCAN pause\n", "", "SCAN memory_aside\n", "").Replace(plan) // small tables: a few rows, and at most 1,000
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

// merged matches the scans of the merged parts of a list, whose rows were found by index already.
var merged = regexp.MustCompile(`SCAN [sc]\d+\n`)

// statements returns the SQL statements of the queue and the memory, by their names.
func statements() map[string]string {
	d := sqlstore.SQLite()
	all := sqlqueue.Statements(d)
	maps.Copy(all, sqlstore.Statements(d))
	maps.Copy(all, sqlhistory.Statements(d))
	return all
}

// planOf returns the query plan of a statement.
func planOf(t *testing.T, s *Store, statement string) string {
	t.Helper()
	args := make([]any, 20) // at least as many as any statement has parameters
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
