package memory_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// tasked returns a record with a task on each of the given days after april.
func tasked(days ...int) memory.Record {
	r := memory.Record{Repo: "org/repo", Issue: 42}
	for _, day := range days {
		r.Put(memory.Task{ID: fmt.Sprint(day), At: april.AddDate(0, 0, day), Actions: actions([]string{"0 add_label bug done"})})
	}
	return r
}

func change(day int, value string) memory.Change {
	return memory.Change{At: april.AddDate(0, 0, day), Type: protocol.ActionRemoveLabel, Values: []string{value}, By: "octocat"}
}

// told returns the first value of each of a record's changes.
func told(r memory.Record) string {
	var list []string
	for _, c := range r.Humans {
		list = append(list, c.Values[0])
	}
	return strings.Join(list, " ")
}

func TestSetHumans(t *testing.T) {
	t.Parallel()
	comment, sticky, odd, empty := change(4, "c"), change(4, "s"), change(4, "o"), change(4, "e")
	comment.Type, sticky.Type, odd.Type, empty.Type = protocol.ActionComment, protocol.ActionUpdateComment, "add label: x", ""
	tests := []struct {
		name string
		r    memory.Record
		list []memory.Change
		want string
	}{
		{"in order of time", tasked(0), []memory.Change{change(3, "c"), change(1, "a"), change(2, "b1"), change(2, "b2")}, "a b1 b2 c"},
		{"before the oldest task", tasked(2, 5), []memory.Change{change(1, "before"), change(2, "at-once"), change(9, "after")}, "at-once after"},
		{"all before", tasked(2), []memory.Change{change(1, "before")}, ""},
		{"no task", tasked(), []memory.Change{change(1, "x")}, ""},
		{"none", tasked(0), nil, ""},
		{"comments and other forms", tasked(0), []memory.Change{comment, sticky, odd, empty, change(5, "x")}, "x"},
	}
	for _, tt := range tests {
		r, given := tt.r, fmt.Sprint(tt.list)
		r.Humans = []memory.Change{change(7, "replaced")}
		r.SetHumans(tt.list)
		if got := told(r); got != tt.want || (got == "") != (r.Humans == nil) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if fmt.Sprint(tt.list) != given {
			t.Errorf("%s: the list was changed to %v", tt.name, tt.list)
		}
	}
}

// TestAddHumans adds lists to a record with the changes "a" to "d" on the days 1 to 4. In each
// case the caller has seen every change since a certain day.
func TestAddHumans(t *testing.T) {
	t.Parallel()
	undone := change(2, "b")
	undone.Type = protocol.ActionAddLabel
	other, exact := change(2, "b"), change(2, "b")
	other.By = "hubot"
	exact.At = exact.At.Add(time.Microsecond).In(time.FixedZone("", 3600))
	tests := []struct {
		name  string
		since int // day
		list  []memory.Change
		want  string
	}{
		{"nothing since", 3, nil, "a b"},
		{"nothing at all", 0, nil, ""},
		{"seen no more", 9, nil, "a b c d"},
		{"replaced from then on", 3, []memory.Change{change(5, "e"), change(3, "x")}, "a b x e"},
		{"at the same time", 4, []memory.Change{change(4, "x")}, "a b c x"},
		{"older and known", 3, []memory.Change{exact, change(1, "a")}, "a b"},
		{"older and new", 3, []memory.Change{change(2, "x"), change(0, "y")}, "y a b x"},
		{"by somebody else", 3, []memory.Change{other}, "a b b"},
		{"twice in the list", 3, []memory.Change{change(5, "e"), change(5, "e")}, "a b e"},
		{"undone and done again", 3, []memory.Change{change(2, "b"), undone, change(2, "b")}, "a b b b"},
		{"before the oldest task", 3, []memory.Change{change(-1, "x")}, "a b"},
		{"comments", 3, []memory.Change{{At: april.AddDate(0, 0, 5), Type: protocol.ActionComment, Values: []string{"x"}}}, "a b"},
	}
	for _, tt := range tests {
		r := tasked(0)
		r.SetHumans([]memory.Change{change(1, "a"), change(2, "b"), change(3, "c"), change(4, "d")})
		before, was := r, fmt.Sprint(r.Humans, tt.list)
		r.AddHumans(tt.list, april.AddDate(0, 0, tt.since).Add(time.Microsecond))
		if got := told(r); got != tt.want || (got == "") != (r.Humans == nil) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if fmt.Sprint(before.Humans, tt.list) != was {
			t.Errorf("%s: changed in place", tt.name)
		}
		// Adding the same list again changes nothing.
		again := r
		again.AddHumans(tt.list, april.AddDate(0, 0, tt.since))
		if diff := cmp.Diff(r.Humans, again.Humans); diff != "" {
			t.Errorf("%s: added again (-once +twice):\n%s", tt.name, diff)
		}
	}
}

// TestAddHumansBounds adds changes to a record that keeps MaxChanges already: the oldest are
// dropped.
func TestAddHumansBounds(t *testing.T) {
	t.Parallel()
	r := tasked(0)
	for i := range 2 * memory.MaxChanges {
		r.AddHumans([]memory.Change{change(i, fmt.Sprint(i))}, april.AddDate(0, 0, i))
	}
	if n := len(r.Humans); n != memory.MaxChanges || r.Humans[0].Values[0] != fmt.Sprint(n) {
		t.Errorf("got %d: %s", n, told(r))
	}
	large := change(200, strings.Repeat("\x00", 512))
	for range 20 {
		large.Values = append(large.Values, large.Values[0])
	}
	r.AddHumans([]memory.Change{large}, large.At)
	if n := len(r.Humans); n < 2 || n > memory.MaxChanges-1+1 {
		t.Errorf("got %d", n)
	}
	large.At = large.At.Add(time.Hour)
	r.AddHumans([]memory.Change{large}, large.At)
	if len(r.Humans) != 1 {
		t.Errorf("got %d, want the newest alone", len(r.Humans))
	}
}

func TestSetHumansForm(t *testing.T) {
	t.Parallel()
	r := tasked(0)
	long := change(1, strings.Repeat("é\xff", 1_000))
	long.At, long.By = long.At.In(time.FixedZone("", 3600)).Add(time.Microsecond), strings.Repeat("b", 1_000)
	for range 200 {
		long.Values = append(long.Values, "v")
	}
	r.SetHumans([]memory.Change{long})
	got := r.Humans[0]
	if got.At != april.AddDate(0, 0, 1) || len(got.By) > 512 || len(got.Values) != 100 || len(got.Values[0]) > 512 {
		t.Errorf("got %v with %d bytes of login, %d values, %d bytes in the first", got.At, len(got.By), len(got.Values), len(got.Values[0]))
	}
	r.Revision = 1
	data, err := memory.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := memory.Decode(data, "org/repo", 42)
	if diff := cmp.Diff(r.Humans, again.Humans); diff != "" || err != nil {
		t.Errorf("on its way: %v (-want +got):\n%s", err, diff)
	}
}

// TestSetHumansBounds sets more changes than a record keeps: the newest changes and all tasks
// stay.
func TestSetHumansBounds(t *testing.T) {
	t.Parallel()
	var many, large []memory.Change
	for i := range memory.MaxChanges + 10 {
		many = append(many, change(i, fmt.Sprint(i)))
		c := change(i, fmt.Sprint(i))
		for range 9 {
			c.Values = append(c.Values, strings.Repeat("\x00", 512))
		}
		if i < memory.MaxChanges {
			c.Values = c.Values[:1]
		}
		large = append(large, c)
	}
	r := tasked(0)
	r.SetHumans(many)
	if len(r.Humans) != memory.MaxChanges || r.Humans[0].Values[0] != "10" {
		t.Errorf("got %d from %s, want %d from 10", len(r.Humans), r.Humans[0].Values[0], memory.MaxChanges)
	}
	r.SetHumans(large)
	if n := len(r.Humans); n != 2 || r.Humans[n-1].Values[0] != "59" {
		t.Errorf("got %d large ones: %s", n, told(r))
	}
	full := tasked(0)
	for i := 1; full.Earlier == nil; i++ {
		full.Put(memory.Task{ID: fmt.Sprint(i), At: april.Add(time.Duration(i) * time.Minute), Rationale: strings.Repeat("x", 4_000)})
	}
	tasks := len(full.Tasks)
	full.SetHumans(many)
	full.SetHumans(large)
	full.Revision = math.MaxInt32
	if _, err := memory.Encode(full); err != nil || len(full.Tasks) != tasks {
		t.Errorf("of %d tasks %d are left: %v", tasks, len(full.Tasks), err)
	}
}

// TestPutHumans puts tasks into a record with changes. The changes before the oldest task that is
// kept are dropped.
func TestPutHumans(t *testing.T) {
	t.Parallel()
	r := tasked(0)
	var list []memory.Change
	for i := range memory.MaxChanges {
		list = append(list, change(2*i, fmt.Sprint(2*i)))
	}
	r.SetHumans(list)
	for i := range memory.MaxTasks + 20 {
		r.Put(memory.Task{ID: fmt.Sprint(i), At: april.AddDate(0, 0, i), Actions: actions([]string{"0 add_label bug done"})})
	}
	if got := told(r); !strings.HasPrefix(got, "20 22 ") || !strings.HasSuffix(got, " 98") || r.Tasks[0].ID != "20" {
		t.Errorf("from task %s on: got %s", r.Tasks[0].ID, got)
	}
	// A second attempt moves the oldest task to a later time.
	r = tasked(0, 9)
	r.SetHumans(list)
	r.Put(memory.Task{ID: "0", At: april.AddDate(0, 0, 5)})
	if got := told(r); !strings.HasPrefix(got, "6 8 ") {
		t.Errorf("from task %s on: got %s", r.Tasks[0].ID, got)
	}
	// A huge task leaves no room for other tasks or older changes.
	r = tasked(0, 1)
	r.SetHumans(list)
	huge := memory.Task{ID: "huge", At: april.AddDate(1, 0, 0)}
	for i := range 40 {
		a := memory.NewAction(i, item(t, `{"type":"add_labels","labels":[]}`))
		for range 10 {
			a.Values = append(a.Values, strings.Repeat("v", 500))
		}
		huge.Actions = append(huge.Actions, a)
	}
	r.Put(huge)
	huge.ID, huge.At = "huger", huge.At.Add(time.Hour)
	r.Put(huge)
	if r.Humans != nil || r.Tasks[len(r.Tasks)-1].ID != "huger" {
		t.Errorf("from task %s on: got %s", r.Tasks[0].ID, told(r))
	}
}

// TestSummaryFoldsHumans summarizes more changes than fit into a summary: the oldest ones are
// left out.
func TestSummaryFoldsHumans(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42}
	for i := range 95 {
		at := april.AddDate(0, 0, i)
		r.Tasks = append(r.Tasks, memory.Task{ID: fmt.Sprint(i), At: at, Actions: []memory.Action{
			{Type: protocol.ActionAddLabel, Values: []string{fmt.Sprint("ours ", i)}, Rule: "sort", Result: triage.Done},
		}})
		r.Humans = append(r.Humans, memory.Change{At: at.Add(time.Hour), Type: protocol.ActionRemoveLabel, Values: []string{fmt.Sprint("theirs ", i)}})
	}
	text, ok := memory.Summary(r)
	checkSummary(t, r, text, ok)
	first := regexp.MustCompile(`^Issue #42: from 2026-04-10 to (\S+) labelled (\d+) times; (?:a human took off the label 'theirs (\d+)' on|labelled 'ours (\d+)')`).FindStringSubmatch(text)
	if first == nil {
		t.Fatalf("the oldest are not folded: %s", text)
	}
	var folded, theirs int
	fmt.Sscan(first[2], &folded)
	if fmt.Sscan(first[3], &theirs); first[3] != "" && theirs != folded-1 {
		t.Errorf("folded %d tasks, and told from %d of humans on", folded, theirs)
	}
	if !strings.HasSuffix(text, "; labelled 'ours 94' on 2026-07-13 (rule sort); a human took off the label 'theirs 94' on 2026-07-13. No further actions.") {
		t.Errorf("the newest are not told: %s", text)
	}
	if len(text) < memory.MaxSummary-200 {
		t.Errorf("got %d bytes, want the space to be used", len(text))
	}
}

// TestSummaryFoldsIntoCounts folds the oldest tasks into counts, and leaves out the changes of
// humans before the remaining tasks.
func TestSummaryFoldsIntoCounts(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42}
	for i := range memory.MaxTasks + 5 {
		at := april.AddDate(0, 0, i)
		r.Tasks = append(r.Tasks, memory.Task{ID: fmt.Sprint(i), At: at, Decision: protocol.Escalate})
	}
	r.Humans = []memory.Change{change(1, "before"), change(3, "before"), change(104, "after")}
	text, ok := memory.Summary(r)
	checkSummary(t, r, text, ok)
	if strings.Contains(text, "before") || !strings.Contains(text, "'after'") {
		t.Errorf("got %s", text)
	}
}
