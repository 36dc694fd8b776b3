package memory_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// equalItems compares actions by their JSON.
var equalItems = cmp.Comparer(func(a, b protocol.ActionItem) bool { return a.String() == b.String() })

// offer returns a new proposal of the action with the given JSON, carried by our comment.
func offer(t testing.TB, id, action string) memory.Proposal {
	t.Helper()
	return memory.Proposal{
		ID: id, At: april, Expires: april.AddDate(0, 0, 30), Source: "crash", Action: item(t, action),
		Confidence: protocol.ConfidenceHigh, Rationale: "because", Carrier: triage.CarrierComment,
	}
}

// propose adds a proposal that must be accepted, and returns its number.
func propose(t testing.TB, r *memory.Record, p memory.Proposal) int {
	t.Helper()
	n, ok := r.Propose(p)
	if !ok {
		t.Fatalf("not proposed: %s", p.ID)
	}
	return n
}

// pendingOf formats the proposals that wait.
func pendingOf(r memory.Record) string { return fmt.Sprint(r.Pending()) }

// answer proposes, answers and expires proposals in a copy of a record. The record itself does not
// change, and each copy can be saved.
func answer(t *testing.T, r memory.Record) {
	t.Helper()
	before := saved(t, r)
	other := r
	last := r.LastProposal
	other.Render(strings.Repeat("0f", 32))
	if n, ok := other.Propose(offer(t, "fuzz\x00", `{"type":"lock"}`)); ok && n <= last && !strings.Contains(fmt.Sprint(r.Proposals), "fuzz") {
		t.Fatalf("the number %d was used before", n)
	}
	saved(t, other)
	if list := other.Pending(); len(list) > 0 {
		n := list[0].Number
		if !other.End(n, memory.Rejected, "mona\xff", strings.Repeat("\x01", 1000), april) || other.End(n, memory.Accepted, "", "", april) {
			t.Fatalf("proposal %d did not end once", n)
		}
		saved(t, other)
	}
	other.Expire(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, p := range other.Pending() {
		if p.Expires.Year() < 9999 {
			t.Fatalf("proposal %d did not expire", p.Number)
		}
	}
	if _, err := memory.Decode(saved(t, other), "org/repo", 42); err != nil {
		t.Fatalf("decode what was answered: %v", err)
	}
	text, ok := memory.Summary(other)
	checkSummary(t, other, text, ok)
	if !bytes.Equal(saved(t, r), before) {
		t.Fatal("a copy shares data with the record")
	}
}

func TestPropose(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
	first := propose(t, &r, offer(t, "a", `{"type":"add_label","label":"bug"}`))
	second := propose(t, &r, offer(t, "b", `{"type":"lock"}`))
	if first != 1 || second != 2 || r.LastProposal != 2 || len(r.Pending()) != 2 {
		t.Errorf("got the numbers %d and %d, last %d, %d wait", first, second, r.LastProposal, len(r.Pending()))
	}
	before := saved(t, r)
	again := offer(t, "a", `{"type":"unlock"}`)
	if n := propose(t, &r, again); n != 1 || !bytes.Equal(saved(t, r), before) {
		t.Errorf("a retry: got the number %d, or a changed record", n)
	}
	at := april.Add(time.Hour)
	for _, bad := range []struct {
		number int
		state  memory.ProposalState
	}{{3, memory.Rejected}, {0, memory.Rejected}, {1, memory.Pending}, {1, ""}, {1, "vanished"}} {
		if r.End(bad.number, bad.state, "mona", "", at) {
			t.Errorf("proposal %d ended as %q", bad.number, bad.state)
		}
	}
	if !bytes.Equal(saved(t, r), before) {
		t.Error("an End that failed changed the record")
	}
	if !r.End(1, memory.Overtaken, "mona", "it is closed", at.Add(time.Microsecond)) {
		t.Error("not ended")
	}
	want := offer(t, "a", `{"type":"add_label","label":"bug"}`)
	want.Number, want.State, want.By, want.Reason, want.Ended = 1, memory.Overtaken, "mona", "it is closed", at
	p, ok := r.Proposal(1)
	if diff := cmp.Diff(want, p, equalItems); diff != "" || !ok {
		t.Errorf("%t (-want +got):\n%s", ok, diff)
	}
	if n := propose(t, &r, again); n != 1 || r.End(1, memory.Rejected, "", "", at) {
		t.Errorf("a proposal that ended: got the number %d, or it ended again", n)
	}
	if _, ok := r.Proposal(3); ok {
		t.Error("there is a proposal 3")
	}
	pushed := offer(t, "c", `{"type":"unlock"}`)
	pushed.Number, pushed.State, pushed.By, pushed.Ended, pushed.Reason = 99, memory.Accepted, "mallory", at, "x"
	if n := propose(t, &r, pushed); n != 3 {
		t.Errorf("got the number %d, want 3", n)
	}
	if p, _ := r.Proposal(3); p.State != memory.Pending || p.By+p.Reason != "" || !p.Ended.IsZero() {
		t.Errorf("got %+v, want a proposal that waits", p)
	}
}

// raw returns an action with a parameter that is not checked for UTF-8.
func raw(t *testing.T, value string) protocol.ActionItem {
	t.Helper()
	item, err := protocol.NewAction("lock", map[string]any{"x": json.RawMessage(value)})
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// TestProposeRefuses proposes what a record does not keep. The record stays unchanged.
func TestProposeRefuses(t *testing.T) {
	t.Parallel()
	lock := `{"type":"lock"}`
	const most = memory.MaxProposedText
	items := func(list ...string) (out []protocol.ActionItem) {
		for _, text := range list {
			out = append(out, item(t, text))
		}
		return out
	}
	for _, tt := range []struct {
		name   string
		change func(*memory.Proposal)
		ok     bool
	}{
		{"as it is", func(*memory.Proposal) {}, true},
		{"no id", func(p *memory.Proposal) { p.ID = "" }, false},
		{"a long id", func(p *memory.Proposal) { p.ID = strings.Repeat("x", 101) }, false},
		{"no carrier", func(p *memory.Proposal) { p.Carrier = "" }, false},
		{"an unknown carrier", func(p *memory.Proposal) { p.Carrier = "pigeon" }, false},
		{"no confidence", func(p *memory.Proposal) { p.Confidence = "" }, true},
		{"an unknown confidence", func(p *memory.Proposal) { p.Confidence = "sure" }, false},
		{"the longest comment", func(p *memory.Proposal) {
			p.Action = item(t, `{"type":"comment","body":"`+strings.Repeat(`\u0000`, most)+`"}`)
		}, true},
		{"a longer comment", func(p *memory.Proposal) {
			p.Action = item(t, `{"type":"comment","body":"`+strings.Repeat("é", most+1)+`"}`)
		}, false},
		{"a longer comment that was repeated", func(p *memory.Proposal) {
			p.Action = item(t, `{"type":"comment","body":"x","body":"`+strings.Repeat("é", most+1)+`"}`)
		}, false},
		{"a longer sticky comment", func(p *memory.Proposal) {
			p.Action = item(t, `{"type":"update_comment","body":"`+strings.Repeat("é", most+1)+`"}`)
		}, false},
		{"a body that is no text", func(p *memory.Proposal) { p.Action = item(t, `{"type":"comment","body":[]}`) }, true},
		{"no action", func(p *memory.Proposal) { p.Action = protocol.ActionItem{} }, true},
		{"an action that is not UTF-8", func(p *memory.Proposal) { p.Action = raw(t, "\"\xff\"") }, false},
		{"a large unknown action", func(p *memory.Proposal) {
			p.Action = item(t, `{"type":"launch","x":"`+strings.Repeat("x", 24<<10)+`"}`)
		}, false},
		{"a large label", func(p *memory.Proposal) {
			p.Action = item(t, `{"type":"add_label","label":"`+strings.Repeat("x", 24<<10)+`"}`)
		}, false},
		{"a deep action", func(p *memory.Proposal) {
			p.Action = item(t, `{"type":"launch","x":`+strings.Repeat("[", 9_997)+strings.Repeat("]", 9_997)+`}`)
		}, false},
		{"a group", func(p *memory.Proposal) { p.Group = items(`{"type":"comment","body":"x"}`, lock) }, true},
		{"a group of another action", func(p *memory.Proposal) { p.Group = items(`{"type":"comment","body":"x"}`) }, false},
		{"a group of 20", func(p *memory.Proposal) { p.Group = items(slices.Repeat([]string{lock}, 20)...) }, true},
		{"a group of 21", func(p *memory.Proposal) { p.Group = items(slices.Repeat([]string{lock}, 21)...) }, false},
		{"a large group", func(p *memory.Proposal) {
			body := `{"type":"comment","body":"` + strings.Repeat("€", most) + `"}`
			p.Group = items(body, body, body, lock)
		}, false},
	} {
		r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
		r.Put(memory.Task{ID: "t", At: april})
		before := saved(t, r)
		p := offer(t, "a", lock)
		tt.change(&p)
		n, ok := r.Propose(p)
		if ok != tt.ok || ok != (n == 1) {
			t.Errorf("%s: got %d, %t", tt.name, n, ok)
		}
		after := saved(t, r)
		if !ok && !bytes.Equal(after, before) {
			t.Errorf("%s: the record was changed", tt.name)
		}
		if _, err := memory.Decode(after, "org/repo", 42); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1, LastProposal: 1 << 30}
	if n, ok := r.Propose(offer(t, "a", lock)); ok {
		t.Errorf("after the last number: got %d", n)
	}
}

// TestProposeClips proposes texts that are too long.
func TestProposeClips(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
	hostile := strings.Repeat("\x01\xff\u2028€", 4_000)
	p := offer(t, "a", `{"type":"add_label","rationale":"`+strings.Repeat("@mona <b>", 8_000)+`","label":"bug","label":"docs","suggest":true}`)
	p.Source, p.Rationale, p.At, p.Expires = hostile, hostile, april.In(time.FixedZone("", 3600)), time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)
	p.Group = []protocol.ActionItem{p.Action}
	propose(t, &r, p)
	got, _ := r.Proposal(1)
	if n := utf8.RuneCountInString(got.Rationale); n != 280 || !strings.HasSuffix(got.Rationale, "…") || !utf8.ValidString(got.Rationale) {
		t.Errorf("rationale: got %d characters", n)
	}
	if got.Action.String() != `{"type":"add_label","label":"docs"}` || got.Group[0].String() != got.Action.String() {
		t.Errorf("got the action %s", got.Action)
	}
	if !r.End(1, memory.Rejected, hostile, hostile, time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Error("not ended")
	}
	saved(t, r)
	small := offer(t, "b", `{"type":"launch_rocket","to":"moon","to":"mars","suggest":true}`)
	propose(t, &r, small)
	if got, _ := r.Proposal(2); got.Action.String() != small.Action.String() {
		t.Errorf("a small action was changed: %s", got.Action)
	}
}

// TestProposalBounds proposes and ends more than a record keeps.
func TestProposalBounds(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
	const more = 7
	for i := range memory.MaxEnded + more {
		n := propose(t, &r, offer(t, fmt.Sprint(i), `{"type":"lock"}`))
		if at := april.Add(time.Duration(i) * time.Hour); !r.End(n, memory.Rejected, "mona", "", at) {
			t.Fatalf("%d: not ended", n)
		}
	}
	if len(r.Proposals) != memory.MaxEnded || r.Proposals[0].Number != more+1 || r.LastProposal != memory.MaxEnded+more {
		t.Errorf("got %d proposals from %d, last %d", len(r.Proposals), r.Proposals[0].Number, r.LastProposal)
	}
	for i := range memory.MaxPending + more {
		_, ok := r.Propose(offer(t, fmt.Sprint("p", i), `{"type":"lock"}`))
		if ok != (i < memory.MaxPending) {
			t.Errorf("%d: %t", i, ok)
		}
	}
	if len(r.Pending()) != memory.MaxPending {
		t.Errorf("%d wait", len(r.Pending()))
	}
	last := r.LastProposal
	if got := r.Expire(april.AddDate(0, 0, 29)); got != nil {
		t.Errorf("%v expired too early", got)
	}
	if got := r.Expire(april.AddDate(0, 0, 30)); len(got) != memory.MaxPending || got[0] != last-memory.MaxPending+1 || len(r.Pending()) != 0 {
		t.Errorf("%v expired", got)
	}
	if p, ok := r.Proposal(last); !ok || p.State != memory.Expired || !p.Ended.Equal(april.AddDate(0, 0, 30)) {
		t.Errorf("got %+v", p)
	}
	if len(r.Proposals) != memory.MaxEnded {
		t.Errorf("%d ended", len(r.Proposals))
	}
	if n := propose(t, &r, offer(t, "0", `{"type":"lock"}`)); n != last+1 {
		t.Errorf("got the number %d again", n)
	}
	saved(t, r)
}

// TestProposalsFit fills a record with tasks, changes of humans and large proposals. It can always be
// saved, and no proposal that waits is lost.
func TestProposalsFit(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: memory.MaxRevision}
	fill := func(id string) {
		for i := range memory.MaxTasks {
			r.Put(memory.Task{ID: fmt.Sprint(id, i), At: april.Add(time.Duration(i) * time.Second), Rationale: strings.Repeat("x", 4_000)})
		}
	}
	fill("a")
	var list []memory.Change
	for i := range memory.MaxChanges {
		list = append(list, change(i, strings.Repeat("x", 500)))
	}
	r.AddHumans(list, time.Time{})
	body := `{"type":"comment","body":"` + strings.Repeat("€", memory.MaxProposedText) + `"}`
	for ok := true; ok; {
		_, ok = r.Propose(offer(t, fmt.Sprint(r.LastProposal), body))
		saved(t, r)
	}
	if n := len(r.Pending()); n < 5 || n >= memory.MaxPending || n != r.LastProposal {
		t.Fatalf("%d wait, and the last one is %d", n, r.LastProposal)
	}
	was := pendingOf(r)
	r.ProposalComment = 1<<63 - 1
	saved(t, r)
	fill("b")
	saved(t, r)
	r.AddHumans(list, time.Time{})
	saved(t, r)
	for range 9 {
		r.Render(strings.Repeat("0f", 32))
		saved(t, r)
	}
	if got := pendingOf(r); got != was {
		t.Errorf("a proposal was lost (-want +got):\n%s", cmp.Diff(was, got))
	}
	for _, p := range r.Pending() {
		r.End(p.Number, memory.Rejected, strings.Repeat("m", 600), strings.Repeat("\x01", 600), april)
		saved(t, r)
	}
	if len(r.Pending()) != 0 || len(r.Proposals) == 0 {
		t.Errorf("%d wait, and %d are kept", len(r.Pending()), len(r.Proposals))
	}
	if len(r.Tasks) == 0 {
		t.Error("no task is left")
	}
}

// TestProposalsWorst adds proposals to the largest record until it is full. It can always be saved.
func TestProposalsWorst(t *testing.T) {
	t.Parallel()
	r, _ := worst(t)
	body := `{"type":"comment","body":"` + strings.Repeat("x", memory.MaxProposedText) + `"}`
	kept := 0
	for i := range 40 {
		n, ok := r.Propose(offer(t, fmt.Sprint(i), body))
		if ok {
			kept++
		}
		if i%2 == 0 && ok {
			r.End(n, memory.Rejected, "mona", "", april.Add(time.Duration(i)*time.Hour))
		}
		saved(t, r)
	}
	if kept == 0 || kept == 40 {
		t.Errorf("%d of 40 were proposed", kept)
	}
	was := pendingOf(r)
	r.Put(memory.Task{ID: "new", At: april, Rationale: strings.Repeat("x", 4_000)})
	saved(t, r)
	if pendingOf(r) != was {
		t.Error("a proposal was lost")
	}
}

// TestPutDropsEnded puts a task into a record that is too large without its tasks: the proposals that
// ended first are dropped, and those that wait are kept.
func TestPutDropsEnded(t *testing.T) {
	t.Parallel()
	r, _ := worst(t)
	body := `{"type":"comment","body":"` + strings.Repeat("x", memory.MaxProposedText) + `"}`
	for i := range 20 {
		p := offer(t, fmt.Sprint(i), body)
		p.Number, p.State = i+1, memory.Pending
		if i >= 6 {
			p.State, p.Ended = memory.Rejected, april.Add(time.Duration(30-i)*time.Hour)
		}
		r.Proposals, r.LastProposal = append(r.Proposals, p), p.Number
	}
	if _, err := memory.Encode(r); err == nil {
		t.Fatal("the record is not too large")
	}
	was := fmt.Sprint(r.Proposals)
	other := r
	other.Put(memory.Task{ID: "new", At: april})
	saved(t, other)
	var ended []int
	for _, p := range other.Proposals {
		if p.State != memory.Pending {
			ended = append(ended, p.Number)
		}
	}
	if len(other.Pending()) != 6 || len(ended) == 0 || len(ended) > 13 || ended[0] != 7 || ended[len(ended)-1] != 6+len(ended) {
		t.Errorf("%d wait, and %v ended, want the first of them", len(other.Pending()), ended)
	}
	if fmt.Sprint(r.Proposals) != was {
		t.Error("the record was changed")
	}
}

// TestRenderFits adds a sum to a record that is full.
func TestRenderFits(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: memory.MaxRevision}
	propose(t, &r, offer(t, "a", `{"type":"lock"}`))
	put := func(i, n int) {
		r.Put(memory.Task{ID: fmt.Sprintf("%03d", i), At: april.Add(time.Duration(i) * time.Second), Rationale: strings.Repeat("x", n)})
	}
	tasks := 0
	for ; memory.MaxSize-memory.Room(r) > 5_000; tasks++ {
		put(tasks, 4_000)
	}
	put(tasks, 1)
	put(tasks, 1+memory.MaxSize-memory.Room(r))
	if memory.Room(r) != memory.MaxSize || len(r.Tasks) != tasks+1 {
		t.Fatalf("the record has %d of %d bytes, and %d of %d tasks", memory.Room(r), memory.MaxSize, len(r.Tasks), tasks+1)
	}
	r.Render(strings.Repeat("0f", 32))
	r.ProposalComment = 1<<63 - 1
	saved(t, r)
	if len(r.Tasks) != tasks || len(r.ProposalRenders) != 1 {
		t.Errorf("%d of %d tasks are left, and %d sums", len(r.Tasks), tasks, len(r.ProposalRenders))
	}
}

// TestPutBoundsProposals puts a task into a record whose proposals are out of bounds.
func TestPutBoundsProposals(t *testing.T) {
	t.Parallel()
	p := func(n int, state memory.ProposalState, id string) memory.Proposal {
		p := offer(t, id, `{"type":"lock"}`)
		p.Number, p.State, p.Ended = n, state, april.Add(time.Duration(n)*time.Hour)
		return p
	}
	wrong := p(5, memory.Pending, "carrier")
	wrong.Carrier = "pigeon"
	list := []memory.Proposal{p(9, memory.Pending, "last"), wrong, p(3, memory.Pending, "three"), p(3, memory.Pending, "again"), p(4, "", "state"), p(6, memory.Rejected, "three"), p(0, memory.Pending, "zero")}
	for i := range 60 {
		list = append(list, p(100+i, memory.Rejected, fmt.Sprint("e", i)))
	}
	for i := range 30 {
		list = append(list, p(200+i, memory.Pending, fmt.Sprint("p", i)))
	}
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1, Proposals: list, ProposalComment: -1, ProposalRenders: slices.Repeat([]string{"x", strings.Repeat("0f", 32)}, 9)}
	was := fmt.Sprint(r)
	other := r
	if _, err := memory.Encode(other); err == nil {
		t.Error("Encode before Put: got no error")
	}
	other.Put(memory.Task{ID: "t", At: april})
	saved(t, other)
	var numbers []int
	for _, p := range other.Proposals {
		numbers = append(numbers, p.Number)
	}
	if n := len(numbers); n != memory.MaxPending+memory.MaxEnded || numbers[0] != 3 || numbers[1] != 9 || numbers[2] != 110 || numbers[n-1] != 217 || other.LastProposal != 217 {
		t.Errorf("got %d: %v, last %d", n, numbers, other.LastProposal)
	}
	if other.ProposalComment != 0 || len(other.ProposalRenders) != 5 {
		t.Errorf("got the comment %d and the sums %v", other.ProposalComment, other.ProposalRenders)
	}
	if fmt.Sprint(r) != was {
		t.Error("the record was changed")
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	sum := func(n int) string { return fmt.Sprintf("%064x", n) }
	var r memory.Record
	for _, n := range []int{1, 2, 2, 1, 3, 4, 4, 5, 6} {
		r.Render(sum(n))
	}
	for _, bad := range []string{"", "x", strings.Repeat("A", 64), sum(1) + "0", sum(1) + "\n"} {
		r.Render(bad)
	}
	if diff := cmp.Diff([]string{sum(1), sum(3), sum(4), sum(5), sum(6)}, r.ProposalRenders); diff != "" {
		t.Errorf("sums (-want +got):\n%s", diff)
	}
}

// TestProposalsShare changes copies of a record, and the lists that its methods return.
func TestProposalsShare(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
	for i := range 3 {
		p := offer(t, fmt.Sprint(i), `{"type":"lock"}`)
		p.Group = []protocol.ActionItem{item(t, `{"type":"comment","body":"x"}`), p.Action}
		propose(t, &r, p)
		p.Group[0] = item(t, `{"type":"unlock"}`) // the caller's list
		r.Render(fmt.Sprintf("%064x", i))
	}
	r.Proposals = append(r.Proposals, memory.Proposal{ID: "behind"})[:3]
	r.ProposalRenders = append(r.ProposalRenders, "behind")[:3]
	was := fmt.Sprint(r.Proposals[:4], r.ProposalRenders[:4], r.LastProposal)
	other := r
	propose(t, &other, offer(t, "new", `{"type":"lock"}`))
	other.Render(fmt.Sprintf("%064x", 9))
	other.End(1, memory.Rejected, "mona", "", april)
	other.Expire(april.AddDate(1, 0, 0))
	other.Put(memory.Task{ID: "t", At: april})
	p, _ := r.Proposal(1)
	p.Group[0], p.Actions()[1] = item(t, `{"type":"unlock"}`), item(t, `{"type":"unlock"}`)
	list := r.Pending()
	list[1].Group[0] = item(t, `{"type":"unlock"}`)
	list[0].State = memory.Accepted
	if got := fmt.Sprint(r.Proposals[:4], r.ProposalRenders[:4], r.LastProposal); got != was {
		t.Errorf("got %s\nwas %s", got, was)
	}
}

// TestDue checks the due time of a record with closes and proposals.
func TestDue(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
	check := func(what string, due, closing time.Time) {
		t.Helper()
		at, ok := r.Due()
		c, planned := r.ClosingDue()
		if !at.Equal(due) || ok == due.IsZero() || !c.Equal(closing) || planned == closing.IsZero() {
			t.Errorf("%s: got %v, %t and %v, %t", what, at, ok, c, planned)
		}
	}
	never, later := time.Time{}, april.AddDate(0, 0, 10)
	check("empty", never, never)
	p := offer(t, "a", `{"type":"lock"}`)
	p.At, p.Carrier = april.Add(time.Hour), triage.CarrierGitHub
	propose(t, &r, p)
	check("GitHub's panel", p.Expires, never)
	r.Plan(memory.ScheduledClose{Due: later})
	check("and a close", later, later)
	q := offer(t, "b", `{"type":"lock"}`)
	q.At, q.Expires = april.Add(2*time.Hour), april.AddDate(0, 0, 5)
	propose(t, &r, q)
	check("no comment yet", q.At, later)
	r.ProposalComment, r.ProposalsShown = 7, 1
	check("the comment does not show it", q.At, later)
	r.ProposalsShown = 2
	check("with the comment", q.Expires, later)
	r.ProposalComment = 0
	r.End(2, memory.Rejected, "", "", april)
	check("rejected", later, later)
	r.Veto("")
	check("vetoed", p.Expires, never)
	r.Expire(p.Expires)
	check("expired", never, never)
}

// TestRejectedStay checks that many proposals that nobody answered do not make a record forget one that a
// person rejected.
func TestRejectedStay(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
	rejected := propose(t, &r, offer(t, "rejected", `{"type":"lock"}`))
	r.End(rejected, memory.Rejected, "mona", "", april)
	for i := range 3 * memory.MaxEnded {
		n := propose(t, &r, offer(t, fmt.Sprint(i), `{"type":"lock"}`))
		r.End(n, memory.Overtaken, "", "", april.Add(time.Duration(i+1)*time.Hour))
	}
	if p, ok := r.Proposal(rejected); !ok || p.State != memory.Rejected || len(r.Proposals) > memory.MaxEnded+1 {
		t.Errorf("got %+v of %d proposals", p, len(r.Proposals))
	}
	saved(t, r)
}
