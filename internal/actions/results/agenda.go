package results

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
)

// closingPrefix begins the names of the artifacts that announce closings.
const closingPrefix = "foreman-closing-i"

// dueLayout is how such a name tells the time, in UTC; noneDue stands for none.
const (
	dueLayout = "20060102T150405Z"
	noneDue   = "none"
)

// closingName is the name that announces when the first closing of an issue is due; zero:
// there is none any more.
func closingName(issue int, due time.Time) string {
	when := noneDue
	if !due.IsZero() {
		when = due.UTC().Format(dueLayout)
	}
	return closingPrefix + strconv.Itoa(issue) + "-" + when
}

// parseClosing reads such a name. Anybody can make an artifact of any name.
func parseClosing(name string) (issue int, due time.Time, ok bool) {
	number, when, _ := strings.Cut(strings.TrimPrefix(name, closingPrefix), "-")
	issue, err := strconv.Atoi(number)
	if err != nil || issue < 1 {
		return 0, time.Time{}, false
	}
	if when != noneDue {
		if due, err = time.Parse(dueLayout, when); err != nil || due.IsZero() {
			return 0, time.Time{}, false
		}
	}
	return issue, due, closingName(issue, due) == name
}

// announce returns what makes an artifact that tells of the closings in a record, if they
// are not those of the stored one. It is called before the record is stored, and after:
// a closing is announced first, lest nobody finds it, and called off last. That it could
// not be called off is no error: who looks finds none.
func (a *Artifact) announce(r memory.Record, stored held, ids backend) func(ctx context.Context, before bool) error {
	due, ok := r.Due()
	return func(ctx context.Context, before bool) error {
		if before != ok || due.Truncate(time.Second).Equal(stored.due.Truncate(time.Second)) {
			return nil
		}
		name := closingName(r.Issue, due)
		zip, err := pack([]byte("{}\n"))
		if err != nil {
			return err
		}
		u, err := a.upload(ctx, name, zip, ids)
		if err == nil {
			_, err = u.run(ctx)
		}
		switch {
		case err == nil:
		case ok:
			return fmt.Errorf("announce the closing in artifact %s: %w", name, err)
		default:
			a.c.log.Warn("an artifact goes on announcing a closing that is none", "issue", r.Issue, "error", err.Error())
		}
		return nil
	}
}

// Pending implements memory.Agenda. No record is downloaded.
func (a *Artifact) Pending(ctx context.Context, repo string) (list []memory.Due, complete bool, err error) {
	if err := checkIssue(ctx, a.repo, repo, 1); err != nil {
		return nil, false, fmt.Errorf("look for closings: %w", err)
	}
	lister, ok := a.reader.(Lister)
	if !ok {
		return nil, false, errors.New("look for closings: the reader of artifacts cannot list those of all names")
	}
	all, whole, err := lister.Recent(ctx, closingPrefix)
	if err != nil {
		return nil, false, fmt.Errorf("look for closings: %w", err)
	}
	newest := map[int]Info{}
	for _, info := range all {
		issue, _, ok := parseClosing(info.Name)
		if ok && a.distrust(info, info.Name) == "" && info.ID > newest[issue].ID {
			newest[issue] = info
		}
	}
	for issue, info := range newest {
		if _, due, _ := parseClosing(info.Name); !due.IsZero() {
			list = append(list, memory.Due{Issue: issue, At: due})
		}
	}
	memory.SortDue(list)
	return list, whole, nil
}
