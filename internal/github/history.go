package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/filecache"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

// resumeWithin is the age up to which a list that was not read to its end can be resumed.
const resumeWithin = 6 * time.Hour

// HistoryOptions configures a [History].
type HistoryOptions struct {
	// Dir is the folder of the cache; empty: no cache.
	Dir string
	// Reserve is the number of API calls that stay unused, for other users of the token.
	Reserve int
}

// A History reads the issues of a repository and their timelines with few calls. It caches the
// responses, and reads them again only if they may have changed. After a failure it resumes the
// list of issues. It is not safe for concurrent use.
type History struct {
	caller  *rest.Caller
	op      rest.Op // describes the list of issues, for errors
	cache   *filecache.Cache
	reserve int
	calls   HistoryCalls
	started time.Time // when the reading of the list began
	resumed bool
}

// A BudgetError means that a [History] stopped because the remaining calls of the token are
// reserved for other users of the token.
type BudgetError = rest.BudgetError

// HistoryCalls counts the calls of a [History].
type HistoryCalls struct {
	Made      int // number of calls, including those with an unchanged response
	Unchanged int // calls that did not count towards the limit, because nothing had changed
	Kept      int // responses that came from the cache without a call
	// Cache is the first error from writing the cache; nil: no error.
	Cache error
}

// An IssuePage is a page of a repository's issues and pull requests.
type IssuePage struct {
	Issues []triage.Issue // without their Raw
	More   bool           // there is a page after this one
	About  int            // approximate number of issues on all pages
}

// NewHistory returns the history of a repository. An error means that the repository's name is
// invalid, or that the cache folder cannot be used.
//
// It is a function and not a method of the client, so that the linker can drop it from programs
// that do not use it.
func NewHistory(c *Client, owner, repo string, o HistoryOptions) (*History, error) {
	op := rest.InRepository("list the issues of", owner, repo, rest.NeedIssuesRead)
	if err := op.Check(); err != nil {
		return nil, fmt.Errorf("read the history of %s/%s: %w", rest.Clip(owner, 100), rest.Clip(repo, 100), err)
	}
	h := &History{caller: c.caller, op: op, reserve: o.Reserve}
	if o.Dir == "" {
		return h, nil
	}
	host := strings.NewReplacer(":", "_", "[", "", "]", "").Replace(c.caller.Host())
	var err error
	h.cache, err = filecache.Open(o.Dir, host, strings.ToLower(owner), strings.ToLower(repo))
	if err != nil {
		return nil, fmt.Errorf("open the cache %s: %w", o.Dir, err)
	}
	return h, nil
}

// Calls returns the requests so far.
func (h *History) Calls() HistoryCalls { return h.calls }

// The entries of a cache.
type (
	keptList struct {
		Started time.Time
	}
	keptPage struct {
		At     time.Time
		ETag   string
		More   bool
		About  int
		Issues []triage.Issue
	}
	keptTimeline struct {
		UpdatedAt time.Time
		Timeline  triage.Timeline
	}
)

const listKey = "list"

// Issues returns page n of all issues and pull requests, open and closed, the newest first. Pages
// count from 1. The error is a [BudgetError] if no more calls than the reserve are left.
func (h *History) Issues(ctx context.Context, n int) (IssuePage, error) {
	if n == 1 {
		h.begin()
	}
	var page keptPage
	key := fmt.Sprintf("page-%d", n)
	found := h.cache.Load(key, &page)
	if found && h.resumed && !page.At.Before(h.started) {
		h.calls.Kept++
		return page.page(), nil
	}
	path := fmt.Sprintf("repos/%s/%s/issues?state=all&sort=created&direction=desc&per_page=%d&page=%d",
		h.op.Ref.Owner, h.op.Ref.Repo, rest.PageSize, n)
	var raw []json.RawMessage
	ask := rest.Call{Method: http.MethodGet, Path: path, Out: &raw}
	if found {
		ask.ETag = page.ETag
	}
	a, err := h.ask(ctx, ask)
	if err != nil {
		return IssuePage{}, err
	}
	if !a.Same {
		page = keptPage{ETag: a.ETag, More: a.More, About: max(a.Last, n) * rest.PageSize}
		if page.Issues, err = parseIssues(raw); err != nil {
			return IssuePage{}, fmt.Errorf("%s: %w", h.op, err)
		}
		if !page.More {
			page.About = (n-1)*rest.PageSize + len(page.Issues)
		}
	}
	page.At = h.caller.Now().UTC()
	h.keep(key, page)
	return page.page(), nil
}

func (p keptPage) page() IssuePage {
	return IssuePage{Issues: p.Issues, More: p.More, About: p.About}
}

// begin resumes a list that was read in part, or begins a new one.
func (h *History) begin() {
	var list keptList
	now := h.caller.Now().UTC()
	h.started = now
	if h.cache.Load(listKey, &list) && now.Sub(list.Started) < resumeWithin && !list.Started.After(now) {
		h.started, h.resumed = list.Started, true
		return
	}
	h.keep(listKey, keptList{Started: now})
}

// Done ends a reading that is complete. After it, the next reading starts a new list and asks
// GitHub for all pages that may have changed.
func (h *History) Done() { h.cache.Remove(listKey) }

func parseIssues(raw []json.RawMessage) ([]triage.Issue, error) {
	if raw == nil {
		return nil, errors.New("the answer is not a list")
	}
	list := make([]triage.Issue, 0, len(raw))
	for _, r := range raw {
		i, err := triage.ParseIssue(r)
		if err != nil {
			return nil, err
		}
		list = append(list, i.Issue)
	}
	return list, nil
}

// Timeline returns the timeline of an issue of a page, without the texts of comments. It reads a
// timeline again only after the issue has changed. The errors are those of [History.Issues], and
// triage.ErrGone if the issue no longer exists.
func (h *History) Timeline(ctx context.Context, i triage.Issue) (triage.Timeline, error) {
	var t keptTimeline
	key := fmt.Sprintf("issue-%d", i.Number)
	if h.cache.Load(key, &t) && t.UpdatedAt.Equal(i.UpdatedAt) && !i.UpdatedAt.IsZero() {
		h.calls.Kept++
		return t.Timeline, nil
	}
	if err := h.caller.Spend(h.reserve); err != nil {
		return triage.Timeline{}, err
	}
	ref := h.op.Ref
	ref.Number = i.Number
	timeline, asked, err := readTimeline(ctx, h.caller, ref)
	h.calls.Made += asked
	if errors.Is(err, triage.ErrTruncated) {
		timeline, err = triage.Timeline{}, nil
	}
	if err != nil {
		return triage.Timeline{}, h.limited(err)
	}
	for k := range timeline.Events {
		timeline.Events[k].Body = ""
	}
	h.keep(key, keptTimeline{UpdatedAt: i.UpdatedAt, Timeline: timeline})
	return timeline, nil
}

// keep stores a value in the cache. A failure of the cache only sets HistoryCalls.Cache.
func (h *History) keep(key string, v any) {
	if err := h.cache.Store(key, v); err != nil && h.calls.Cache == nil {
		h.calls.Cache = err
	}
}

// ask makes one call unless it would use the reserve.
func (h *History) ask(ctx context.Context, call rest.Call) (rest.Reply, error) {
	if err := h.caller.Spend(h.reserve); err != nil {
		return rest.Reply{}, err
	}
	h.calls.Made++
	a, err := h.caller.Do(ctx, h.op, call)
	if a.Same {
		h.calls.Unchanged++
	}
	return a, h.limited(err)
}

// limited converts a rate limit that is too long to wait for into a [BudgetError].
func (h *History) limited(err error) error {
	limit, ok := errors.AsType[*rest.LimitError](err)
	if !ok {
		return err
	}
	return fmt.Errorf("%w: %w", &BudgetError{Reserve: h.reserve, Reset: h.caller.Now().Add(limit.Wait)}, err)
}
