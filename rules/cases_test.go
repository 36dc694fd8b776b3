package rules_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const casesDir = "testdata/cases"

// rows.txt lists the features of other triage programs, one a row. Every row has test cases, or a
// reason in README why it has none. Every case belongs to a row.
func TestCasesCoverEveryRow(t *testing.T) {
	t.Parallel()
	rows, listed := caseRows(t)
	readme, err := os.ReadFile(filepath.Join(casesDir, "README"))
	if err != nil {
		t.Fatal(err)
	}
	others := 0
	for row, cases := range rows {
		if !strings.HasPrefix(row, "besides: ") {
			others++
		}
		if len(cases) == 0 && !strings.Contains(string(readme), "\n"+row+"\n") {
			t.Errorf("%s: no case, and no reason in README", row)
		}
	}
	if others != 28 {
		t.Errorf("%d rows, want the 28 of the table", others)
	}
	files, err := filepath.Glob(filepath.Join(casesDir, "*.txtar"))
	if err != nil || len(files) < 150 {
		t.Fatalf("%d cases, want at least 150: %v", len(files), err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".txtar")
		if !slices.Contains(listed, files[i]) {
			t.Errorf("%s: no row in rows.txt", files[i])
		}
	}
	slices.Sort(listed)
	for i, name := range listed {
		if !slices.Contains(files, name) {
			t.Errorf("%s: in rows.txt, but not there", name)
		}
		if i > 0 && listed[i-1] == name {
			t.Errorf("%s: twice in rows.txt", name)
		}
	}
}

// caseRows reads rows.txt. rows maps each row to its cases; all lists the cases of all rows.
func caseRows(t *testing.T) (rows map[string][]string, all []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(casesDir, "rows.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rows = map[string][]string{}
	row := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		name, isCase := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case isCase && row != "":
			rows[row] = append(rows[row], name)
			all = append(all, name)
		default:
			if _, twice := rows[line]; twice {
				t.Errorf("%s: twice in rows.txt", line)
			}
			row, rows[line] = line, nil
		}
	}
	return rows, all
}
