package dashboard

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// An overview is the view model of the first page.
type overview struct {
	Summary string // the counts in a sentence
	Tiles   []tile
	Oldest  time.Time
	Agents  []agentRow
	Held    []heldRow
	Health  []healthRow
	Form    filterForm
	Rows    []row
	Older   string // address of the tasks below; empty: there are none
	Newest  string // address of the newest tasks; empty: they are shown
}

// A tile is one count.
type tile struct {
	Name, Note, URL string
	Count           int
}

// An agentRow counts the tasks of one agent.
type agentRow struct {
	Name, URL              string
	Pending, Held, Claimed int
}

// A heldRow counts the tasks of one repository that are held back.
type heldRow struct {
	Repo, URL   string
	Count       int
	First, Last time.Time // when they are handed out
	More        bool      // there may be more
}

// A healthRow is the Health of one part of the server.
type healthRow struct {
	Name, Detail string
	OK           bool
	Since        time.Time `json:"-"` // not part of the version: for some parts it changes with every check
}

// A filterForm is the state of the form for filtering.
type filterForm struct {
	State, Agent, Repo, Issue string
	States                    []queue.State
	Agents                    []string
	Active                    bool
}

// newOverview makes the first page for a filter.
func newOverview(f queue.Filter, s snapshot, l links) *overview {
	o := &overview{
		Summary: summary(s.stats), Tiles: tiles(s.stats), Oldest: s.stats.Oldest,
		Held: heldRows(s.held), Form: newFilterForm(f, s.stats),
	}
	if f.Before > 0 {
		newest := f
		newest.Before = 0
		o.Newest = filterURL(newest)
	}
	if s.more {
		older := f
		older.Before = s.tasks[len(s.tasks)-1].Seq
		o.Older = filterURL(older)
	}
	for n, i := range s.tasks {
		o.Rows = append(o.Rows, newRow(i, s.briefs[n], l))
	}
	for _, a := range s.stats.Agents {
		o.Agents = append(o.Agents, agentRow{
			Name: agentName(a.Agent), URL: filterURL(queue.Filter{Agent: a.Agent}),
			Pending: a.Pending, Held: a.Held, Claimed: a.Claimed,
		})
	}
	for _, h := range s.health {
		o.Health = append(o.Health, healthRow{Name: word(h.Name), Detail: line(h.Detail, maxLine), OK: h.OK, Since: h.Since})
	}
	return o
}

func tiles(s queue.Stats) []tile {
	list := make([]tile, 0, 7)
	add := func(name string, n int, note string, state queue.State) {
		list = append(list, tile{Name: name, Count: n, Note: note, URL: filterURL(queue.Filter{State: state})})
	}
	add("pending", s.States[queue.Pending], "wait for an agent", queue.Pending)
	add("held back", s.Held, "of these, for now", queue.Pending)
	add("claimed", s.States[queue.Claimed], "an agent works on them", queue.Claimed)
	add("completed", s.States[queue.Completed], "decided", queue.Completed)
	add("being carried out", s.Draining, "of the completed ones", queue.Completed)
	add("done", s.States[queue.Done], "carried out", queue.Done)
	add("failed", s.States[queue.Failed], "given up, with a reason", queue.Failed)
	return list
}

func summary(s queue.Stats) string {
	parts := make([]string, 0, 7)
	for _, t := range tiles(s) {
		parts = append(parts, strconv.Itoa(t.Count)+" "+t.Name)
	}
	return strings.Join(parts, ", ")
}

// heldRows groups those of the newest pending tasks that are held back.
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
	out := filterForm{
		State: string(f.State), Agent: line(f.Agent, maxLine), Repo: line(f.Repo, maxLine), States: queue.States(),
		Active: f.State != "" || f.Agent != "" || f.Repo != "" || f.Issue > 0,
	}
	if f.Issue > 0 {
		out.Issue = strconv.Itoa(f.Issue)
	}
	for _, a := range s.Agents {
		if a.Agent != "" {
			out.Agents = append(out.Agents, line(a.Agent, maxLine))
		}
	}
	return out
}
