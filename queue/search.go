package queue

import (
	"cmp"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/text"
)

// FoldTitle returns a title in the form in which stores keep and search it: without case, with
// single spaces, and at most MaxTitle bytes long.
func FoldTitle(title string) string {
	s := strings.Join(strings.Fields(text.LabelKey(CleanText(title))), " ")
	if len(s) <= MaxTitle {
		return s
	}
	n := MaxTitle
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// A Searcher is a queue that can be searched, such as a [Queue].
type Searcher interface {
	Search(ctx context.Context, f Filter) (Page, error)
}

// List returns the tasks of Search, without the place where the search continues.
func List(ctx context.Context, q Searcher, f Filter) ([]Info, error) {
	page, err := q.Search(ctx, f)
	return page.Tasks, err
}

// Words returns the words of f.Title in the form of FoldTitle.
func (f Filter) Words() []string {
	words := strings.Fields(FoldTitle(f.Title))
	return words[:min(len(words), MaxWords)]
}

// Texts reports whether IsText accepts all texts of the filter. If not, no task matches.
func (f Filter) Texts() bool {
	for _, s := range []string{f.Agent, f.Repo, f.ID, f.Title, f.Reason} {
		if !IsText(s) {
			return false
		}
	}
	return true
}

// Scans reports whether no index has only the tasks that match. Then stores compare tasks with the
// filter one by one: those that the state, the repository with the issue, or else the agent select.
func (f Filter) Scans() bool {
	return f.ID != "" || f.Title != "" || f.Reason != "" || !f.From.IsZero() || !f.To.IsZero() ||
		f.Repo == "" && f.Issue != 0 || f.Repo != "" && f.Issue == 0 && f.Agent != ""
}

// PageSize returns the maximum number of tasks on a page.
func (f Filter) PageSize() int { return min(cmp.Or(max(f.Limit, 0), 100), 1000) }

// Window returns the maximum number of tasks that are compared with the filter.
func (f Filter) Window() int { return min(cmp.Or(max(f.Examine, 0), MaxExamined), MaxExamined) }
