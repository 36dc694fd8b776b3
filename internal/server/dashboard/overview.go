package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// An overview is what the first page shows.
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

// A heldRow tells of the tasks of one repository that are held back.
type heldRow struct {
	Repo, URL   string
	Count       int
	First, Last time.Time // when they are let go
	More        bool      // there may be others
}

// A healthRow is a Health for the page.
type healthRow struct {
	Name, Detail string
	OK           bool
	Since        time.Time `json:"-"` // it may be that of the last look, which is no change
}

// A filterForm is what the form for filtering shows.
type filterForm struct {
	State, Agent, Repo, Issue string
	States                    []queue.State
	Agents                    []string
	Active                    bool
}

// A row is a task in a list.
type row struct {
	ID, URL   string
	Issue     string // "owner/name#7"
	IssueURL  string
	Title     string
	State     queue.State
	Agent     string
	Text      string // what is to be said of its state
	Held      bool
	Until     time.Time // of Held
	Behind    string    // address of the task that it waits for; empty: none
	Draining  bool
	Enqueued  time.Time
	Happened  time.Time // the last thing
	Happening string    // what it was
}

// readFilter reads the address of a list.
func readFilter(q url.Values) (queue.Filter, error) {
	f := queue.Filter{
		State: queue.State(q.Get("state")), Agent: strings.TrimSpace(q.Get("agent")),
		Repo: strings.TrimSpace(q.Get("repo")), Limit: pageSize + 1,
	}
	if f.State != "" && !slices.Contains(queue.States(), f.State) {
		return queue.Filter{}, errors.New("the state must be one of pending, claimed, completed, done and failed")
	}
	if len(f.Agent) > queue.MaxText || len(f.Repo) > queue.MaxText {
		return queue.Filter{}, errors.New("the agent or the repository is too long")
	}
	if s := strings.TrimPrefix(strings.TrimSpace(q.Get("issue")), "#"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return queue.Filter{}, errors.New("the issue must be a number from 1")
		}
		f.Issue = n
	}
	if s := q.Get("before"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return queue.Filter{}, errors.New("before must be a number")
		}
		f.Before = n
	}
	return f, nil
}

// filterURL is the address of a list.
func filterURL(f queue.Filter) string {
	q := url.Values{}
	set := func(key, value string) {
		if value != "" {
			q.Set(key, value)
		}
	}
	set("state", string(f.State))
	set("agent", f.Agent)
	set("repo", f.Repo)
	if f.Issue > 0 {
		set("issue", strconv.Itoa(f.Issue))
	}
	if f.Before > 0 {
		set("before", strconv.FormatInt(f.Before, 10))
	}
	return (&url.URL{Path: "/", RawQuery: q.Encode()}).RequestURI()
}

// overview answers with the first page.
func (d *Dashboard) overview(w http.ResponseWriter, r *http.Request) {
	v := d.visitor(r)
	if !d.admitted(w, r, v) {
		return
	}
	f, err := readFilter(r.URL.Query())
	if err != nil {
		d.show(w, r, shown{status: http.StatusBadRequest, problem: "No tasks can be listed for this address: " + err.Error() + ".", v: v})
		return
	}
	o, err := d.makeOverview(r.Context(), f)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.show(w, r, shown{status: http.StatusOK, v: v, content: content{Overview: o}, notice: r.FormValue("did")})
}

func (d *Dashboard) makeOverview(ctx context.Context, f queue.Filter) (*overview, error) {
	stats, held, err := d.reader.counts(ctx)
	if err != nil {
		return nil, err
	}
	list, err := d.o.Queue.List(ctx, f)
	if err != nil {
		return nil, err
	}
	o := &overview{
		Summary: summary(stats), Tiles: tiles(stats), Oldest: stats.Oldest,
		Held: heldRows(held), Form: form(f, stats),
	}
	if f.Before > 0 {
		newest := f
		newest.Before = 0
		o.Newest = filterURL(newest)
	}
	if len(list) > pageSize {
		list = list[:pageSize]
		older := f
		older.Before = list[pageSize-1].Seq
		o.Older = filterURL(older)
	}
	for _, i := range list {
		o.Rows = append(o.Rows, d.row(i, d.reader.brief(ctx, i)))
	}
	for _, a := range stats.Agents {
		o.Agents = append(o.Agents, agentRow{
			Name: agentName(a.Agent), URL: filterURL(queue.Filter{Agent: a.Agent}),
			Pending: a.Pending, Held: a.Held, Claimed: a.Claimed,
		})
	}
	for _, h := range d.reader.health(ctx) {
		o.Health = append(o.Health, healthRow{Name: word(h.Name), Detail: line(h.Detail, maxLine), OK: h.OK, Since: h.Since})
	}
	return o, nil
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

func form(f queue.Filter, s queue.Stats) filterForm {
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

// agentName is an agent for people.
func agentName(agent string) string {
	if agent == "" {
		return "nobody: the server's rules"
	}
	return word(agent)
}
