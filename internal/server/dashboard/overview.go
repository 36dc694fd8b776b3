package dashboard

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue"
)

// An overview is the view model of the first page.
type overview struct {
	Summary string // the counts in a sentence
	Tiles   []tile // each task is counted in exactly one tile
	Total   string // the number of all tasks
	Oldest  time.Time
	Agents  []agentRow
	Sample  string // describes the tasks from which the agents' rates and times are computed
	Held    []heldRow
	Waiting waitingSection
	Budget  budgetSection
	Health  healthSection
	Form    filterForm
	Rows    []row
	Older   string // address of the list of older tasks; empty: there are none
	Looked  string // how far the search looked, in a sentence; empty: at all tasks
	Newest  string // address of the list of the newest tasks; empty: this page is that list
}

// A tile is one count.
type tile struct {
	Name, Note, URL string
	Count           int
}

// An agentRow shows the number of an agent's tasks, and its recent results.
type agentRow struct {
	Name, URL              string
	Waiting, Held, Claimed int
	Success                string // percentage of done tasks; empty: no task ended
	Wait, Decide           times
}

// A heldRow shows the number of a repository's delayed tasks.
type heldRow struct {
	Repo, URL   string
	Count       int
	First, Last time.Time // when the first and the last of these tasks are handed out
	More        bool      // there may be further tasks
}

// A healthSection is the Health of all parts. The working parts, Good, are folded.
type healthSection struct {
	Text      string // in a sentence; empty: nothing is known
	Bad, Good []healthRow
}

// A healthRow is the Health of one part of the server.
type healthRow struct {
	Name, Detail string
	OK           bool
	Since        time.Time `json:"-"` // not part of the version: some parts change it at each check
}

// A filterForm is the state of the form for searching.
type filterForm struct {
	Text, ID, State, Agent, Repo, Issue, Reason, Since, Until string
	States                                                    []option
	Agents                                                    []string
	Active                                                    bool
	Query                                                     string // the whole filter, as in an address
}

// An option is a state that can be chosen.
type option struct {
	Value queue.State
	Name  string
}

// newOverview makes the first page for a filter.
func newOverview(f queue.Filter, s snapshot, l links) *overview {
	o := &overview{
		Summary: summary(s.stats), Tiles: tiles(s.stats), Oldest: s.stats.Oldest,
		Held: heldRows(s.held), Health: newHealthSection(s.health), Form: newFilterForm(f, s.stats),
	}
	o.Budget = newBudgetSection(s.budget)
	if o.Waiting = newWaitingSection(s.waiting, l); s.lost {
		o.Waiting.Problem = true
	}
	total := 0
	for _, t := range o.Tiles {
		total += t.Count
	}
	o.Total = plural(total, "task") + " in all"
	o.Agents = agentRows(s.stats.Agents, s.recent)
	if len(s.recent) > 0 {
		o.Sample = "Success and times are those of the newest " + plural(len(s.recent), "task") + " that ended."
	}
	if f.Before > 0 {
		newest := f
		newest.Before = 0
		o.Newest = filterURL(newest)
	}
	if s.next > 0 {
		older := f
		older.Before = s.next
		o.Older = filterURL(older)
		if len(s.tasks) < pageSize {
			o.Looked = "Searched " + plural(s.examined, "task") + "; older ones were not searched yet."
		}
	}
	for n, i := range s.tasks {
		r := newRow(i, s.briefs[n], l)
		r.From = filterURL(f)
		o.Rows = append(o.Rows, r)
	}
	return o
}

func newHealthSection(list []Health) healthSection {
	var s healthSection
	for _, h := range list {
		row := healthRow{Name: word(h.Name), Detail: line(h.Detail, maxLine), OK: h.OK, Since: h.Since}
		if h.OK {
			s.Good = append(s.Good, row)
		} else {
			s.Bad = append(s.Bad, row)
		}
	}
	switch {
	case len(list) == 0:
	case len(s.Bad) == 0:
		s.Text = plural(len(s.Good), "part is", "parts are") + " healthy"
	default:
		s.Text = plural(len(s.Bad), "part is", "parts are") + " unhealthy; " + plural(len(s.Good), "other is", "others are") + " healthy"
	}
	return s
}

// tiles returns the tiles. Each task is counted once.
func tiles(s queue.Stats) []tile {
	list := make([]tile, 0, 7)
	add := func(name string, n int, note string, state queue.State) {
		list = append(list, tile{Name: name, Count: n, Note: note, URL: filterURL(queue.Filter{State: state})})
	}
	heldPending := 0 // held tasks that are pending; the other held tasks are completed
	for _, a := range s.Agents {
		heldPending += a.Held
	}
	add(stateName(queue.Pending), s.States[queue.Pending]-heldPending, "for an agent", queue.Pending)
	add(nameDelayed, s.Held, "not ready yet", queue.Pending)
	add(stateName(queue.Claimed), s.States[queue.Claimed], "by an agent", queue.Claimed)
	add(stateName(queue.Completed), s.States[queue.Completed]-s.Draining-(s.Held-heldPending), "not applied yet", queue.Completed)
	add(nameApplying, s.Draining, "on GitHub", queue.Completed)
	add(stateName(queue.Done), s.States[queue.Done], "with a result", queue.Done)
	add(stateName(queue.Failed), s.States[queue.Failed], "with a reason", queue.Failed)
	return list
}

func summary(s queue.Stats) string {
	parts := make([]string, 0, 7)
	for _, t := range tiles(s) {
		parts = append(parts, strconv.Itoa(t.Count)+" "+t.Name)
	}
	return strings.Join(parts, ", ")
}

// heldRows groups the held tasks in list by repository.
func heldRows(list []queue.Info) []heldRow {
	byRepo := map[string]*heldRow{}
	for _, i := range list {
		if !i.Held || i.Behind != "" {
			continue
		}
		key := strings.ToLower(i.Repo)
		h := byRepo[key]
		if h == nil {
			h = &heldRow{
				Repo: word(i.Repo), URL: filterURL(queue.Filter{State: queue.Pending, Repo: i.Repo}),
				First: i.Ready, Last: i.Ready, More: len(list) == maxHeld,
			}
			byRepo[key] = h
		}
		h.Count++
		if i.Ready.Before(h.First) {
			h.First = i.Ready
		}
		if i.Ready.After(h.Last) {
			h.Last = i.Ready
		}
	}
	rows := make([]heldRow, 0, len(byRepo))
	for _, h := range byRepo {
		rows = append(rows, *h)
	}
	slices.SortFunc(rows, func(a, b heldRow) int { return strings.Compare(a.Repo, b.Repo) })
	return rows
}

func newFilterForm(f queue.Filter, s queue.Stats) filterForm {
	v := filter.Values(f)
	v.Del("before")
	out := filterForm{
		Text: cmp.Or(line(f.Title, maxLine), line(f.ID, maxLine)), State: string(f.State), Agent: line(f.Agent, maxLine), Repo: line(f.Repo, maxLine),
		Issue: v.Get("issue"), Reason: line(f.Reason, maxLine), Since: v.Get("since"), Until: v.Get("until"),
		Active: len(v) > 0, Query: v.Encode(),
	}
	if f.Title != "" {
		out.ID = line(f.ID, maxLine)
	}
	for _, state := range queue.States() {
		out.States = append(out.States, option{state, stateName(state)})
	}
	for _, a := range s.Agents {
		if a.Agent != "" {
			out.Agents = append(out.Agents, line(a.Agent, maxLine))
		}
	}
	return out
}

// filterURL returns the address of a list.
func filterURL(f queue.Filter) string {
	f.Limit = 0 // the length of a page is fixed
	return (&url.URL{Path: "/", RawQuery: filter.Values(f).Encode()}).RequestURI()
}
