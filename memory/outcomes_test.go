package memory_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	cmpdiff "github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
)

var threshold = memory.Threshold{Bound: 0.85, Of: 20}

// counts counts outcomes on issues of different authors: k kept, u undone, a accepted, r rejected, e
// expired, and - unjudged.
func counts(p *memory.Pair, first int, outcomes string) { countsBy(p, first, outcomes, threshold) }

func countsBy(p *memory.Pair, first int, outcomes string, t memory.Threshold) {
	for i, c := range outcomes {
		p.Count(memory.Result{
			Outcome: letters()[string(c)],
			Issue:   first + i, Author: fmt.Sprintf("author-%d", first+i), Acted: april.Add(time.Duration(first+i) * time.Hour), At: april.Add(time.Duration(first+i) * time.Hour),
		}, t)
	}
}

func letters() map[string]memory.Outcome {
	return map[string]memory.Outcome{
		"k": memory.OutcomeKept, "u": memory.OutcomeUndone, "a": memory.OutcomeAccepted,
		"r": memory.OutcomeRejected, "e": memory.OutcomeExpired, "-": memory.OutcomeUnjudged,
	}
}

func TestPair(t *testing.T) {
	t.Parallel()
	k := strings.Repeat
	tests := []struct {
		name, outcomes string
		want           string // earned or not, right of judged, and why it was lost
	}{
		{"19 of 19", k("k", 19), "false 19/19"},
		{"20 of 20", k("k", 20), "true 20/20"},
		{"20 of 20 by answers", k("a", 20), "true 20/20"},
		{"expired and unjudged do not count", k("k-e", 19), "false 19/19"},
		{"one of 27 undone", k("k", 13) + "u" + k("k", 13), "false 26/27"},
		{"one of 28 undone", k("k", 13) + "u" + k("k", 14), "true 27/28"},
		{"one of 28 rejected", k("k", 13) + "r" + k("k", 14), "true 27/28"},
		{"two of 38 undone", "uu" + k("k", 36), "true 36/38"},
		{"three of the last ten", k("k", 60) + "uuu", "true 60/63"},
		{"four of the last ten", k("k", 60) + "uukuu", "false 0/0 people undid or rejected 4 of the last 10"},
		{"four in ten", k("k", 60) + "ukkkkkkuuu", "false 0/0 people undid or rejected 4 of the last 10"},
		{"four in eleven", k("k", 60) + "ukkkkkkkkkuuu", "true 69/73"},
		{"the bound falls", k("k", 20) + k("kkku", 5), "true 35/40"},
		{"the bound falls below", k("k", 20) + k("kkku", 11), "false 9/12 44 of 52 were right, bound 0.75"},
		{"begins anew", k("k", 60) + "uukuu" + k("k", 19), "false 19/19 people undid or rejected 4 of the last 10"},
		{"earned again", k("k", 60) + "uukuu" + k("k", 20), "true 20/20 people undid or rejected 4 of the last 10"},
	}
	for _, tt := range tests {
		var p memory.Pair
		counts(&p, 1, tt.outcomes)
		judged, right := p.Judged()
		if got := strings.TrimSpace(fmt.Sprintf("%t %d/%d %s", p.Earned(threshold), right, judged, p.Why)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		judged, right = p.Before.Judged()
		if all := strings.Count(tt.outcomes, "k") + strings.Count(tt.outcomes, "a"); tt.want[:5] == "false" && p.Why != "" && right == 0 || right > all || judged < right {
			t.Errorf("%s: before %d of %d", tt.name, right, judged)
		}
	}
}

// TestPairStart lets pairs begin with the result of a replay.
func TestPairStart(t *testing.T) {
	t.Parallel()
	k := strings.Repeat
	start := threshold
	start.Start = memory.Start{Judged: 10, Right: 10}
	weak := threshold
	weak.Start = memory.Start{Judged: 10, Right: 8}
	tests := []struct {
		name, outcomes string
		threshold      memory.Threshold
		want           string // earned or not, right of judged with the start
	}{
		{"9 after 10", k("k", 9), start, "false 19/19"},
		{"10 after 10", k("k", 10), start, "true 20/20"},
		{"one of 17 undone after 10", "u" + k("k", 16), start, "false 26/27"},
		{"one of 18 undone after 10", "u" + k("k", 17), start, "true 27/28"},
		{"a replay that was wrong", k("k", 20), weak, "false 28/30"},
		{"no start after a loss", k("k", 20) + "uuuu" + k("k", 19), start, "false 19/19"},
		{"earned again after a loss", k("k", 20) + "uuuu" + k("k", 20), start, "true 20/20"},
	}
	for _, tt := range tests {
		var p memory.Pair
		countsBy(&p, 1, tt.outcomes, tt.threshold)
		judged, right := p.Proof()
		if got := fmt.Sprintf("%t %d/%d", p.Earned(tt.threshold), right, judged); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	var p memory.Pair
	countsBy(&p, 1, k("k", 10), start)
	countsBy(&p, 11, "k", threshold) // the file with the replay was removed
	if judged, _ := p.Proof(); p.Earned(threshold) || judged != 11 || p.Start != (memory.Start{}) {
		t.Errorf("without the file: earned with %d judged, %+v", judged, p.Start)
	}
}

// TestPairEarlier counts outcomes of actions that were carried out before the permission was lost.
func TestPairEarlier(t *testing.T) {
	t.Parallel()
	var p memory.Pair
	counts(&p, 1, strings.Repeat("k", 60)+"uukuu")
	lost := p.Lost
	for _, o := range []memory.Outcome{memory.OutcomeUndone, memory.OutcomeKept} {
		p.Count(memory.Result{Outcome: o, Issue: 90, Author: "mona", Acted: lost.Add(-time.Minute), At: lost.AddDate(0, 0, 14)}, threshold)
	}
	if judged, _ := p.Judged(); judged != 0 || p.Before.Undone != 5 || p.Before.Kept != 62 || p.Last != "" || p.Lost != lost {
		t.Errorf("got %+v", p)
	}
}

// TestPairAuthors checks that few authors cannot earn the permission alone, and that nobody can take it
// away by being the author.
func TestPairAuthors(t *testing.T) {
	t.Parallel()
	for authors, want := range map[int]bool{1: false, 6: false, 7: true} {
		var p memory.Pair
		for i := range 200 {
			p.Count(memory.Result{Outcome: memory.OutcomeKept, Issue: i + 1, Author: fmt.Sprint("Mona", i%authors), Acted: april, At: april}, threshold)
		}
		if p.Earned(threshold) != want {
			t.Errorf("%d authors: earned %t, %+v", authors, !want, p.Tally)
		}
		if judged, _ := p.Judged(); !want && judged != 3*authors {
			t.Errorf("%d authors: judged %d", authors, judged)
		}
	}
	var p memory.Pair
	for i := range 20 {
		p.Count(memory.Result{Outcome: memory.OutcomeUndone, Issue: i + 1, Author: "mona", Acted: april, At: april}, threshold)
	}
	if judged, _ := p.Judged(); judged != 20 {
		t.Errorf("undone on issues of one author: got %d", judged)
	}
}

// TestPairStricter checks that a permission that was earned by an easier threshold does not meet a
// stricter one.
func TestPairStricter(t *testing.T) {
	t.Parallel()
	var p memory.Pair
	counts(&p, 1, strings.Repeat("k", 20))
	for th, want := range map[memory.Threshold]bool{
		threshold: true, {Bound: 0.95, Of: 20}: true, {Bound: 0.99, Of: 20}: false, {Bound: 0.85, Of: 21}: false,
	} {
		if p.Earned(th) != want {
			t.Errorf("%+v: got %t", th, !want)
		}
	}
}

// TestOutcomesCount checks that an issue counts once for a pair until the time of judging has passed it, and
// that pairs are separate.
func TestOutcomesCount(t *testing.T) {
	t.Parallel()
	var o memory.Outcomes
	bug := memory.PairKey{Source: "rule:1", Action: "add_label", Value: "bug"}
	docs := memory.PairKey{Source: "rule:1", Action: "add_label", Value: "docs"}
	day := func(n int) time.Time { return april.AddDate(0, 0, n) }
	count := func(k memory.PairKey, issue, acted int) bool {
		r := memory.Result{Outcome: memory.OutcomeKept, Issue: issue, Author: "mona", Acted: day(acted), At: day(20)}
		return o.Count(k, fmt.Sprint("r", issue), r, threshold)
	}
	got := []bool{count(docs, 7, 1), count(bug, 7, 5), count(bug, 7, 5), count(bug, 7, 1), count(bug, 8, 2)}
	if !slices.Equal(got, []bool{true, true, false, false, true}) {
		t.Errorf("got %v", got)
	}
	o.Advance(day(3))
	o.Advance(day(2)) // a clock that was set back
	got = []bool{count(docs, 7, 1), count(bug, 8, 2), count(bug, 7, 5), count(bug, 8, 4), count(bug, 9, 3)}
	if !slices.Equal(got, []bool{false, false, false, true, false}) || len(o.Counted) != 2 {
		t.Errorf("after the third day: got %v and %v", got, o.Counted)
	}
	p, ok := o.Pair(bug)
	if !ok || p.Kept != 3 || p.Name != "r8" {
		t.Errorf("got %+v", p)
	}
	if _, ok := o.Pair(memory.PairKey{Source: "rule:2"}); ok {
		t.Error("a pair without outcomes is there")
	}
	var none *memory.Outcomes
	if _, ok := none.Pair(bug); ok {
		t.Error("nil has a pair")
	}
}

// TestOutcomesAccepted checks that what was accepted becomes undone once, and that the record is then as if it
// had been undone at once. The letters are those of counts, on issues of their own; a number undoes the
// acceptance of the issue with that number.
func TestOutcomesAccepted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, steps string
		counted     string // of the undoings: y or n
		want        string
	}{
		{"undone", "a a a 2", "y", "accepted 2, undone 1, last kuk, undoings [2]"},
		{"undone again and again", "a a a 2 2 2", "ynn", "accepted 2, undone 1, last kuk, undoings [2]"},
		{"others in between", "a k e - r 1", "y", "kept 1, undone 1, rejected 1, expired 1, unjudged 1, last uku, undoings [5 1]"},
		{"an older one", "a k k k k k k k k k k 1", "y", "kept 10, undone 1, last kkkkkkkkkk, undoings [1]"},
		{"two of them", "a a a 3 1", "yy", "accepted 1, undone 2, last uku, undoings [3 1]"},
		{"what was kept stays", "k a 1", "n", "kept 1, accepted 1, last kk, undoings []"},
		{"what was rejected stays", "r 1", "n", "rejected 1, last u, undoings [1]"},
		{"what was undone stays", "u 1", "n", "undone 1, last u, undoings [1]"},
		{"an earlier period", "a " + strings.Repeat("k ", 29) + "u u u u k 1", "y",
			"kept 1, last k, undoings [31 32 33 34 1], before kept 29, undone 5, lost people undid or rejected 4 of the last 10"},
		{"it ends the permission", strings.Repeat("a ", 20) + "17 18 19 20", "yyyy",
			"last , undoings [17 18 19 20], before accepted 16, undone 4, lost 18 of 20 were right, bound 0.74"},
		{"four of the last ten", strings.Repeat("a ", 60) + "57 58 60 59", "yyyy",
			"last , undoings [57 58 60 59], before accepted 56, undone 4, lost people undid or rejected 4 of the last 10"},
		{"before the next pass", "a advance 1", "n", "accepted 1, last k, undoings []"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var o memory.Outcomes
			k := memory.PairKey{Source: "rule:1", Action: "add_label", Value: "bug"}
			issue, counted := 0, ""
			for step := range strings.FieldsSeq(tt.steps) {
				r := memory.Result{Outcome: letters()[step]}
				if n, err := strconv.Atoi(step); err == nil {
					r.Outcome, r.Issue = memory.OutcomeUndone, n
				} else if issue++; step == "advance" {
					o.Advance(april.AddDate(0, 0, issue))
					continue
				}
				r.Issue = cmp.Or(r.Issue, issue)
				r.Author, r.Acted, r.At = fmt.Sprint("author-", r.Issue), april.Add(time.Duration(r.Issue)*time.Hour), april.AddDate(0, 0, 1)
				ok := o.Count(k, "crash", r, threshold)
				switch _, err := strconv.Atoi(step); {
				case err == nil && ok:
					counted += "y"
				case err == nil:
					counted += "n"
				case !ok:
					t.Fatalf("%s on issue %d does not count", step, issue)
				}
			}
			p, _ := o.Pair(k)
			got := fmt.Sprintf("%slast %s, undoings %v", tallied(p.Tally), p.Last, p.Undoings)
			if before := strings.TrimSuffix(tallied(p.Before), ", "); before != "" {
				got += ", before " + before
			}
			if p.Why != "" {
				got += ", lost " + p.Why
			}
			if got != tt.want || counted != tt.counted {
				t.Errorf("got %s, %s\nwant %s, %s", got, counted, tt.want, tt.counted)
			}
			r := memory.Record{Repo: "org/repo", Issue: memory.Repository, Revision: 1, Outcomes: &o}
			data, err := memory.Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := memory.Decode(data, r.Repo, r.Issue); err != nil {
				t.Error(err)
			}
		})
	}
}

// tallied lists the counts that are not zero.
func tallied(c memory.Tally) string {
	var b strings.Builder
	for _, n := range []struct {
		name string
		n    int
	}{{"kept", c.Kept}, {"accepted", c.Accepted}, {"undone", c.Undone}, {"rejected", c.Rejected}, {"expired", c.Expired}, {"unjudged", c.Unjudged}} {
		if n.n > 0 {
			fmt.Fprintf(&b, "%s %d, ", n.name, n.n)
		}
	}
	return b.String()
}

// TestOutcomesAcceptedByOne accepts more on issues of one author than count, and undoes it.
func TestOutcomesAcceptedByOne(t *testing.T) {
	t.Parallel()
	var o memory.Outcomes
	k := memory.PairKey{Source: "rule:1", Action: "add_label", Value: "bug"}
	count := func(issue int, as memory.Outcome) bool {
		return o.Count(k, "", memory.Result{Outcome: as, Issue: issue, Author: "mona", Acted: april, At: april}, threshold)
	}
	for i := range 5 {
		if !count(i+1, memory.OutcomeAccepted) || !o.Undoable(k, i+1) {
			t.Errorf("issue %d does not count", i+1)
		}
	}
	p, _ := o.Pair(k)
	if p.Accepted != 3 || p.Unjudged != 2 {
		t.Errorf("got %+v", p)
	}
	for _, issue := range []int{5, 5, 1, 1} {
		if first := o.Undoable(k, issue); count(issue, memory.OutcomeUndone) != first {
			t.Errorf("issue %d: counted %t", issue, !first)
		}
	}
	p, _ = o.Pair(k)
	if p.Accepted != 2 || p.Unjudged != 1 || p.Undone != 2 || p.Last != "ukku" || len(p.Authors) != 1 || p.Authors[0].N != 2 {
		t.Errorf("after two undoings: got %+v", p)
	}
	if !count(6, memory.OutcomeAccepted) || !o.Holds(k, 6, false) || o.Holds(k, 7, false) || o.Undoable(k, 7) {
		t.Error("another one does not count, or what was not counted is there")
	}
}

// TestOutcomesRoom checks that outcomes that are counted early leave room for a pass.
func TestOutcomesRoom(t *testing.T) {
	t.Parallel()
	var o *memory.Outcomes
	if !o.Room() {
		t.Error("nil has no room")
	}
	o = &memory.Outcomes{}
	k := memory.PairKey{Source: "rule:1", Action: "add_label", Value: "bug"}
	n := 0
	for ; o.Room() && n < 1000; n++ {
		o.Count(k, "", memory.Result{Outcome: memory.OutcomeRejected, Issue: n + 1, Acted: april.Add(time.Duration(n) * time.Second), At: april}, threshold)
	}
	if n != 500 || len(o.Counted) != n {
		t.Errorf("room for %d, and %d are there", n, len(o.Counted))
	}
	o.Advance(april.Add(time.Minute))
	if !o.Room() {
		t.Error("no room after a pass")
	}
}

// TestOutcomesBounds counts more pairs than a record can have, with the longest texts, and stores them.
func TestOutcomesBounds(t *testing.T) {
	t.Parallel()
	o := &memory.Outcomes{}
	earned := memory.PairKey{Source: "rule:first", Action: "add_label", Value: "bug"}
	for i := range 20 {
		o.Count(earned, "", memory.Result{Acted: april, Outcome: memory.OutcomeKept, Issue: i + 1, Author: fmt.Sprint(i), At: april}, threshold)
	}
	for i := range 250 {
		k := memory.PairKey{Source: fmt.Sprintf("rule:%d%s", i, strings.Repeat("\xff\"", 200)), Action: strings.Repeat("a", 300), Value: strings.Repeat("é", 300)}
		o.Count(k, strings.Repeat("\x01", 300), memory.Result{Acted: april, Outcome: memory.OutcomeUndone, Issue: i + 1, Author: "mona", At: april.Add(time.Duration(i+1) * time.Minute)}, threshold)
	}
	r := memory.Record{Repo: "org/repo", Issue: memory.Repository, Revision: 1, Outcomes: o}
	data, err := memory.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := memory.Decode(data, "org/repo", memory.Repository)
	r.Schema, r.Tasks = memory.Schema, []memory.Task{}
	if diff := cmpdiff.Diff(r, again); diff != "" || err != nil {
		t.Errorf("%v (-counted +decoded):\n%s", err, diff)
	}
	if p, ok := again.Outcomes.Pair(earned); !ok || !p.Earned(threshold) {
		t.Error("the pair with a permission was dropped")
	}
	if n := len(again.Outcomes.Pairs); n < 40 || n > 1000 {
		t.Errorf("got %d pairs", n)
	}
	if _, err := memory.Decode([]byte(strings.Replace(string(data), `"schema": 3`, `"schema": 2`, 1)), "org/repo", memory.Repository); err == nil {
		t.Error("schema 2 has outcomes")
	}
}

// TestPairShadow counts outcomes of shadow mode: they are apart from the others, give and take no permission, and
// last until they are reset.
func TestPairShadow(t *testing.T) {
	t.Parallel()
	var o memory.Outcomes
	bug := memory.PairKey{Source: "rule:1", Action: "add_label", Value: "bug"}
	acted := april
	count := func(outcome memory.Outcome, shadow bool, issues int) {
		for i := range issues {
			acted = acted.Add(time.Minute)
			o.Count(bug, "r", memory.Result{Outcome: outcome, Shadow: shadow, Issue: i + 1, Author: fmt.Sprint("a", i), Acted: acted, At: acted}, threshold)
		}
		o.Advance(acted)
	}
	state := func() string {
		p, _ := o.Pair(bug)
		judged, right := p.Judged()
		shadow, agreed := p.Shadow.Judged()
		return fmt.Sprintf("%t %d/%d, shadow %t %d/%d %d unjudged %s", p.Earned(threshold), right, judged, p.Shadow.Ready(threshold), agreed, shadow, p.Shadow.Unjudged, p.Shadow.Last)
	}
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"19 agreed", func() { count(memory.OutcomeKept, true, 19) }, "false 0/0, shadow false 19/19 0 unjudged kkkkkkkkkk"},
		{"unknown ones", func() { count(memory.OutcomeUnjudged, true, 9) }, "false 0/0, shadow false 19/19 9 unjudged kkkkkkkkkk"},
		{"the 20th", func() { count(memory.OutcomeKept, true, 1) }, "false 0/0, shadow true 20/20 9 unjudged kkkkkkkkkk"},
		{"a permission", func() { count(memory.OutcomeKept, false, 20) }, "true 20/20, shadow true 20/20 9 unjudged kkkkkkkkkk"},
		{"people decide otherwise", func() { count(memory.OutcomeUndone, true, 5) }, "true 20/20, shadow false 20/25 9 unjudged kkkkkuuuuu"},
		{"the permission is lost", func() { count(memory.OutcomeUndone, false, 4) }, "false 0/1, shadow false 20/25 9 unjudged kkkkkuuuuu"},
		{"an earlier reset", func() { o.Reset(bug, april) }, "false 0/1, shadow false 20/25 9 unjudged kkkkkuuuuu"},
		{"a reset", func() { o.Reset(bug, acted.Add(time.Hour)) }, "false 0/0, shadow false 0/0 0 unjudged"},
	} {
		step.do()
		if got := strings.TrimSpace(state()); got != step.want {
			t.Errorf("%s: got %s, want %s", step.name, got, step.want)
		}
	}
}

// TestOutcomesShadowApart counts an action that was only planned and one that was carried out, of one pair on one
// issue.
func TestOutcomesShadowApart(t *testing.T) {
	t.Parallel()
	var o memory.Outcomes
	bug := memory.PairKey{Source: "rule:1", Action: "add_label", Value: "bug"}
	for _, tt := range []struct{ shadow, want bool }{{true, true}, {false, true}, {true, false}, {false, false}} {
		r := memory.Result{Outcome: memory.OutcomeKept, Shadow: tt.shadow, Issue: 7, Author: "mona", Acted: april, At: april}
		if holds := o.Holds(bug, 7, tt.shadow); holds == tt.want {
			t.Errorf("shadow %t: holds %t before", tt.shadow, holds)
		}
		if got := o.Count(bug, "r", r, threshold); got != tt.want {
			t.Errorf("shadow %t: got %t", tt.shadow, got)
		}
	}
	if p, _ := o.Pair(bug); p.Kept != 1 || p.Shadow.Kept != 1 {
		t.Errorf("got %+v", p)
	}
}

// TestPairRoom compares the upper bound of a pair's size with its size.
func TestPairRoom(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", strings.Repeat("\x01", 200), strings.Repeat("é", 100), strings.Repeat("<", 200)} {
		var p memory.Pair
		p.PairKey, p.Name = memory.PairKey{Source: text, Action: text, Value: text}, text
		counts(&p, 1<<29, strings.Repeat("k", 60)+"uukuu"+strings.Repeat("ku", 150))
		p.Shadow = memory.Shadow{Since: april.Add(time.Millisecond), Tally: memory.Tally{Kept: 1 << 30, Undone: 1 << 30, Accepted: 1 << 30, Rejected: 1 << 30, Expired: 1 << 30, Unjudged: 1 << 30}, Last: "kkkkkkkkkk"}
		p.Tally, p.Before = p.Shadow.Tally, p.Shadow.Tally
		if room, most := memory.PairRoom(p), memory.MaxPairRoom(p); room > most {
			t.Errorf("%q: %d bytes, more than %d", text, room, most)
		}
	}
}

// TestEarnedSeeds simulates sources that are right with a probability, on 1,000 seeds each. The figures are
// goals of the feature; docs/proof/earned.md has those of the whole simulation.
func TestEarnedSeeds(t *testing.T) {
	t.Parallel()
	const seeds = 1000
	// judged counts outcomes until stop returns true, and returns their number.
	run := func(seed uint64, p *memory.Pair, share float64, most int, stop func(right bool) bool) int {
		r := rand.New(rand.NewPCG(seed, uint64(share*100)))
		for i := range most {
			o := memory.OutcomeKept
			if r.Float64() >= share {
				o = memory.OutcomeUndone
			}
			p.Count(memory.Result{Outcome: o, Issue: i + 1, Author: fmt.Sprint(i), Acted: april, At: april}, threshold)
			if stop(o == memory.OutcomeKept) {
				return i + 1
			}
		}
		return 0
	}
	var early, fell, bad, late int
	for seed := range uint64(seeds) {
		var p memory.Pair
		applied := func(bool) bool { return p.Earned(threshold) }
		if n := run(seed, &p, 0.95, 100, applied); n > 0 {
			early++
		}
		p = memory.Pair{}
		if run(seed, &p, 0.95, 300, func(bool) bool { return !p.Lost.IsZero() }) > 0 {
			fell++
		}
		p = memory.Pair{}
		if run(seed, &p, 0.70, 500, applied) > 0 {
			bad++
		}
		p = memory.Pair{}
		run(seed, &p, 0.95, 5000, applied)
		mistakes := 0
		run(seed+seeds, &p, 0.60, 5000, func(right bool) bool {
			if !right {
				mistakes++
			}
			return !p.Lost.IsZero()
		})
		if mistakes > 12 {
			late++
		}
	}
	t.Logf("of %d seeds: right in 95 %% of cases, applied within 100 judged: %d; lost within 300: %d; right in 70 %%, ever applied within 500: %d; "+
		"right in 60 %% after a permission, more than 12 mistakes: %d", seeds, early, fell, bad, late)
	if early < 950 || fell > 150 || bad > 5 || late > 10 {
		t.Error("a goal is missed")
	}
}
