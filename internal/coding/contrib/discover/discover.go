// Package discover finds open issues that suit the contributor.
package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/hub"
	"github.com/org/foreman-action/internal/coding/contrib/score"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/scoring"
	"github.com/org/foreman-action/internal/scoring/evidence"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// The default and the maximum of the number of candidates.
const (
	DefaultLimit = 10
	MaxLimit     = 50
)

// Options are the flags of the command.
type Options struct {
	// Languages, Topics and Types replace the values of the configuration, unless they are nil.
	// Empty texts in a list are ignored, so [""] is an empty list.
	Languages, Topics, Types []string
	Limit                    int    // the most candidates to return
	IncludeSuppressed        bool   // also return issues that would be left out
	Query                    string // search query; empty: made from the profile
}

// Check returns a mistake in the flags.
func (o Options) Check() error {
	for _, t := range o.Types {
		if t != "" && !slices.Contains(controller.Types(), t) {
			return fmt.Errorf("--type: want one of %s, got %q", strings.Join(controller.Types(), ", "), text.Quote(t))
		}
	}
	switch {
	case o.Limit < 1 || o.Limit > MaxLimit:
		return fmt.Errorf("--limit: want 1 to %d, got %d", MaxLimit, o.Limit)
	case len([]rune(o.Query)) > maxQuery:
		return fmt.Errorf("--query: GitHub takes at most %d characters", maxQuery)
	}
	return nil
}

// profile returns the configured profile, changed by the flags.
func (o Options) profile(configured scoring.Profile) scoring.Profile {
	replace := func(flag, configured []string) []string {
		if flag == nil {
			return configured
		}
		return slices.DeleteFunc(slices.Clone(flag), func(s string) bool { return strings.TrimSpace(s) == "" })
	}
	return scoring.Profile{
		Languages: replace(o.Languages, configured.Languages), Topics: replace(o.Topics, configured.Topics), Types: replace(o.Types, configured.Types),
	}
}

// A candidate is an issue that a discovery is still considering.
type candidate struct {
	hub.Found
	repo   hub.Repo
	result scoring.Result
	// The evidence of work on the issue. looked is set if the open pull requests were requested,
	// and unread if that failed.
	evidence       []evidence.Evidence
	looked, unread bool
}

// A run is one discovery.
type run struct {
	session session.Session
	options Options
	profile scoring.Profile
	rules   *scoring.Rules
	hub     *hub.Hub
	doc     contract.Discovery
	done    int // number of finished reads, for the progress
	total   int
}

// Run searches once and returns a [contract.Discovery]. It stores the document in the controller's
// folder, unless GitHub blocked the search.
func Run(ctx context.Context, s session.Session, o Options) (contract.Document, error) {
	rules, err := score.Rules(s)
	if err != nil {
		return nil, err
	}
	h, err := hub.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	configured := score.Profile(s.Config)
	r := &run{session: s, options: o, profile: o.profile(configured), rules: rules, hub: h}
	r.doc = contract.Discovery{
		Status: contract.OK, Query: cmp.Or(o.Query, Query(r.profile)), Candidates: []contract.Candidate{},
		SuggestedCommands: []string{}, SuggestedQueries: []string{}, Warnings: []string{},
	}
	const fewest, most, perCandidate = 30, 100, 5
	found, whole, err := h.Search(ctx, contract.ScopeDiscovery, r.doc.Query, min(max(perCandidate*o.Limit, fewest), most))
	if blocked, ok := errors.AsType[*hub.BlockedError](err); ok {
		r.doc.Status, r.doc.Blocked, r.doc.Next, r.doc.Reason = contract.Blocked, &blocked.Throttle, blocked.Next(), blocked.Reason()
		return r.doc, nil
	}
	if err != nil {
		return nil, err
	}
	r.doc.PoolSize = len(found)
	if !whole {
		r.doc.Warnings = append(r.doc.Warnings, "GitHub's search took too long and left issues out: a narrower --query finds more.")
	}
	pool, err := r.score(r.sift(found))
	if err != nil {
		return nil, err
	}
	const lookedUp = 2
	pool = pool[:min(len(pool), lookedUp*o.Limit)]
	r.total = 1 + min(len(pool), lookedUp*o.Limit-1) + o.Limit
	if pool, err = r.repositories(ctx, pool); err != nil {
		return nil, err
	}
	if pool, err = r.pulls(ctx, pool); err != nil {
		return nil, err
	}
	r.finish(pool, configured)
	kept := struct {
		RecordedAt contract.Time `json:"recordedAt"`
		contract.Discovery
	}{contract.Time(s.Now()), r.doc}
	return r.doc, s.Controller.Write(controller.LastDiscovery, kept)
}

// sift removes the issues that the search result alone shows to be unsuitable.
func (r *run) sift(found []hub.Found) []*candidate {
	var kept []*candidate
	for _, f := range found {
		out, always := r.suppress(f)
		if out != nil {
			*out++
		}
		if out == nil || r.options.IncludeSuppressed && !always {
			kept = append(kept, &candidate{Found: f})
		}
	}
	return kept
}

// suppress returns the counter for the reason why an issue is left out; nil if it is not. always
// is set if the issue is left out even with IncludeSuppressed.
func (r *run) suppress(f hub.Found) (reason *int, always bool) {
	s, i := &r.doc.Suppressed, f.Issue
	switch {
	case i.PullRequest:
		return &s.PullRequest, true
	case excluded(r.session.Config.ExcludeRepos, f.Ref):
		return &s.Excluded, true
	case automated(i):
		return &s.DependencyAutomation, false
	case evidence.Sensitive(i):
		return &s.SecuritySensitive, false
	case len(i.Assignees) > 0:
		return &s.Assigned, false
	case scoring.Stale(i, r.session.Config.StaleAfterDays, r.session.Now()):
		return &s.Stale, false
	}
	return nil, false
}

// excluded reports whether a repository is one of "owner/repo" or "owner/*".
func excluded(list []string, ref triage.Ref) bool {
	return slices.ContainsFunc(list, func(e string) bool {
		return strings.EqualFold(e, ref.Owner+"/"+ref.Repo) || strings.EqualFold(e, ref.Owner+"/*")
	})
}

// automated reports whether a program that updates dependencies opened an issue.
func automated(i triage.Issue) bool {
	title := strings.ToLower(strings.TrimSpace(i.Title))
	return slices.Contains([]string{"dependabot[bot]", "renovate[bot]"}, strings.ToLower(i.Author)) ||
		strings.HasPrefix(title, "bump ") && strings.Contains(title, " from ") || strings.HasPrefix(title, "update dependency") ||
		strings.HasPrefix(title, "chore(deps") || strings.HasPrefix(title, "dependency dashboard")
}

// score scores candidates by the facts read so far, and sorts them, the best first.
func (r *run) score(list []*candidate) ([]*candidate, error) {
	for _, c := range list {
		var err error
		c.result, err = r.rules.Score(scoring.Facts{
			Issue: c.Issue, Repo: c.repo.Repo, Evidence: c.evidence, Unread: c.unread,
			Profile: r.profile, StaleAfterDays: r.session.Config.StaleAfterDays, Now: r.session.Now(),
		})
		if err != nil {
			return nil, err
		}
	}
	size := func(c *candidate) int { return int(math.Log10(float64(max(c.repo.Stars, 1)))) }
	slices.SortStableFunc(list, func(a, b *candidate) int {
		return cmp.Or(
			cmp.Compare(b.result.Score, a.result.Score), cmp.Compare(size(b), size(a)),
			b.Issue.UpdatedAt.Compare(a.Issue.UpdatedAt), cmp.Compare(a.Ref.String(), b.Ref.String()),
		)
	})
	return list, nil
}

// A lookup is one read for all candidates of a repository.
type lookup struct {
	ref  triage.Ref
	of   []*candidate
	read func() error
}

// byRepo groups candidates by their repository, in their order.
func byRepo(list []*candidate) []*lookup {
	var out []*lookup
	at := map[string]*lookup{}
	for _, c := range list {
		key := strings.ToLower(c.Ref.Owner + "/" + c.Ref.Repo)
		if at[key] == nil {
			at[key] = &lookup{ref: c.Ref}
			out = append(out, at[key])
		}
		at[key].of = append(at[key].of, c)
	}
	return out
}

// all makes the look-ups, several concurrently. If GitHub refuses one, all adds a warning.
func (r *run) all(what string, list []*lookup) error {
	var mu sync.Mutex
	var failed error
	hub.Each(len(list), func(i int) {
		err := list[i].read()
		mu.Lock()
		defer mu.Unlock()
		r.done++
		r.session.Report(session.Progress{What: what, Done: min(r.done, r.total), Total: r.total})
		if err := r.warn(what, err); err != nil && failed == nil {
			failed = err
		}
	})
	return failed
}

// warn turns the error of a look-up into a warning. It returns an error that has to end the
// command.
func (r *run) warn(what string, err error) error {
	if err == nil || errors.Is(err, triage.ErrNotFound) {
		return nil
	}
	const limit = 300
	var warning string
	if blocked, ok := errors.AsType[*hub.BlockedError](err); ok {
		warning = fmt.Sprintf("GitHub refused further reads (%s): %s", what, blocked.Throttle.Message)
	} else if problem, ok := errors.AsType[*contract.Problem](err); ok && problem.Code == contract.CodeUnreachable {
		warning = fmt.Sprintf("GitHub could not be reached (%s).", what)
	} else {
		return err
	}
	if warning = text.Plain(warning, limit); !slices.Contains(r.doc.Warnings, warning) {
		r.doc.Warnings = append(r.doc.Warnings, warning)
	}
	return nil
}

// repositories reads the repositories of the candidates, in the order of the scores, and scores
// the candidates again.
func (r *run) repositories(ctx context.Context, pool []*candidate) ([]*candidate, error) {
	list := byRepo(pool)
	most := 2*r.options.Limit - 1
	if len(list) > most {
		for _, left := range list[most:] {
			pool = slices.DeleteFunc(pool, func(c *candidate) bool { return slices.Contains(left.of, c) })
		}
		list = list[:most]
	}
	for _, l := range list {
		l.read = func() error {
			repo, err := r.hub.Repo(ctx, contract.ScopeDiscovery, l.ref)
			for _, c := range l.of {
				c.repo = repo
			}
			return err
		}
	}
	if err := r.all("read repositories", list); err != nil {
		return nil, err
	}
	pool = slices.DeleteFunc(pool, func(c *candidate) bool {
		if !c.repo.Archived && !c.repo.Disabled {
			return false
		}
		r.doc.Suppressed.Archived++
		return !r.options.IncludeSuppressed
	})
	return r.score(pool)
}

// pulls reads the open pull requests for the best candidates, and removes the candidates that
// somebody is working on. It repeats this until there are enough candidates, but reads at most
// options.Limit lists.
func (r *run) pulls(ctx context.Context, pool []*candidate) ([]*candidate, error) {
	for left := r.options.Limit; ; {
		var missing []*candidate
		for _, c := range pool[:min(len(pool), r.options.Limit)] {
			if !c.looked {
				missing = append(missing, c)
			}
		}
		list := byRepo(missing)
		list = list[:min(len(list), left)]
		if len(list) == 0 {
			break
		}
		left -= len(list)
		for _, l := range list {
			// One list serves all candidates of its repository, even those with lower scores.
			l.of = slices.DeleteFunc(slices.Clone(pool), func(c *candidate) bool {
				return !strings.EqualFold(c.Ref.Owner, l.ref.Owner) || !strings.EqualFold(c.Ref.Repo, l.ref.Repo)
			})
			l.read = func() error { return r.compare(ctx, l) }
		}
		if err := r.all("list pull requests", list); err != nil {
			return nil, err
		}
		pool = slices.DeleteFunc(pool, func(c *candidate) bool {
			if !c.looked || evidence.Risk(c.evidence) != evidence.High {
				return false
			}
			if !r.options.IncludeSuppressed {
				r.doc.Suppressed.Duplicate++
			}
			return !r.options.IncludeSuppressed
		})
		var err error
		if pool, err = r.score(pool); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(pool, func(c *candidate) bool { return !c.looked }), nil
}

// compare searches the open pull requests of a repository for evidence of work on the candidates.
func (r *run) compare(ctx context.Context, l *lookup) error {
	pulls, total, err := r.hub.Pulls(ctx, contract.ScopeDuplicate, l.ref)
	for _, c := range l.of {
		c.looked, c.unread = true, err != nil && !errors.Is(err, triage.ErrNotFound)
		c.repo.OpenPulls = total
		c.evidence = evidence.Find(evidence.Facts{Ref: c.Ref, Issue: c.Issue, Pulls: pulls, Now: r.session.Now()})
	}
	return err
}

// finish fills the document.
func (r *run) finish(pool []*candidate, configured scoring.Profile) {
	for _, c := range pool[:min(len(pool), r.options.Limit)] {
		r.doc.Candidates = append(r.doc.Candidates, c.document())
	}
	if n := len(r.doc.Candidates); n > 0 {
		best := pool[0].Ref.String()
		r.doc.Next = contract.Run(contract.ActionScore, "contribflow score "+best+" --json")
		r.doc.Reason = fmt.Sprintf("Found %d candidate(s); the best is %s.", n, best)
		return
	}
	r.doc.Reason = "No candidates matched the current discovery profile."
	if r.doc.PoolSize > 0 {
		r.doc.Reason = fmt.Sprintf("All of the %d issues that matched the current discovery profile were left out.", r.doc.PoolSize)
	}
	r.suggest(configured)
	r.doc.Next = contract.Run(contract.ActionRefineDiscovery, r.doc.SuggestedCommands[0])
}

// suggest adds wider searches to the document. If the search has no restrictions already, it adds
// narrower ones.
func (r *run) suggest(configured scoring.Profile) {
	const most = 4
	list := relax(r.profile)
	if r.doc.Query == openIssues {
		list = []scoring.Profile{{Types: []string{"docs"}}, {Types: []string{"good-first"}}, {Types: []string{"tests"}}}
	}
	for _, p := range list {
		query := Query(p)
		if query == r.doc.Query || slices.Contains(r.doc.SuggestedQueries, query) || len(r.doc.SuggestedQueries) == most {
			continue
		}
		r.doc.SuggestedQueries = append(r.doc.SuggestedQueries, query)
		r.doc.SuggestedCommands = append(r.doc.SuggestedCommands, commandFor(p, configured))
	}
}

// document returns the candidate as a part of the document.
func (c *candidate) document() contract.Candidate {
	const labelLimit = 60
	d := contract.Candidate{
		ID: "github:" + c.Ref.String(), Owner: c.Ref.Owner, Repo: c.Ref.Repo, FullName: c.Ref.Owner + "/" + c.Ref.Repo, Number: c.Ref.Number,
		Title: evidence.Title(c.Issue.Title), URL: c.Issue.URL, Labels: []string{}, Stars: c.repo.Stars, DuplicateEvidence: c.evidence,
		Score: c.result.Score, Recommendation: c.result.Band, ScoreExplanation: c.result.Explanation,
		RiskLevel: c.result.Risk, RiskFlags: c.result.Flags, EstimatedEffortHours: c.result.EffortHours,
	}
	for _, l := range c.Issue.Labels {
		d.Labels = append(d.Labels, text.Plain(l, labelLimit))
	}
	if c.repo.Language != "" {
		d.Language = &c.repo.Language
	}
	return d
}
