package results

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
)

// closingPrefix begins the names of the artifacts that announce when a scheduled run has work on an
// issue: a scheduled close, or proposals. Scheduled closes were the first kind of such work.
const closingPrefix = "foreman-closing-i"

// dueLayout is the format of the UTC time in the name of such an artifact. noneDue replaces the
// time after the record has no due time any more.
const (
	dueLayout = "20060102T150405Z"
	noneDue   = "none"
)

// closingName returns the name of the artifact that announces the due time of an issue. Zero due: it
// has none any more.
func closingName(issue int, due time.Time) string {
	when := noneDue
	if !due.IsZero() {
		when = due.UTC().Format(dueLayout)
	}
	return closingPrefix + strconv.Itoa(issue) + "-" + when
}

// parseClosing parses the name of an announcement. It is strict, because anybody can make an
// artifact of any name.
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

// announce makes the artifact that announces the due time of an issue. The caller announces an earlier
// time before it saves the record, and a later one, or none, afterwards. So scheduled runs find the
// record in time even if the save fails.
func (a *Artifact) announce(ctx context.Context, job jobIDs, issue int, due time.Time) error {
	name := closingName(issue, due)
	u, err := a.uploads.prepare(ctx, job, name, []byte("{}\n"))
	if err == nil {
		_, err = u.run(ctx)
	}
	if err != nil && !due.IsZero() {
		return fmt.Errorf("announce the due time of the issue in artifact %s: %w", name, err)
	}
	return err
}

// Pending implements memory.Agenda. It downloads no record.
func (a *Artifact) Pending(ctx context.Context, repo string) (list []memory.Due, complete bool, err error) {
	if err := checkIssue(ctx, a.repo, repo, 1); err != nil {
		return nil, false, fmt.Errorf("look for due issues: %w", err)
	}
	all, whole, err := a.uploads.reader.Recent(ctx, 0)
	if err != nil {
		return nil, false, fmt.Errorf("look for due issues: %w", err)
	}
	a.uploads.lists.putRecent(all, whole)
	newest := map[int]Info{}
	skipped, why := 0, ""
	for _, info := range all {
		issue, _, ok := parseClosing(info.Name)
		if !ok || info.Expired {
			continue
		}
		if reason := a.uploads.trust.check(info, info.Name); reason != "" {
			skipped, why = skipped+1, reason
		} else if info.ID > newest[issue].ID {
			newest[issue] = info
		}
	}
	if skipped > 0 {
		a.uploads.log.Warn("skipped untrusted announcements of due issues", "count", skipped, "reason", why)
	}
	for issue, info := range newest {
		if _, due, _ := parseClosing(info.Name); !due.IsZero() {
			list = append(list, memory.Due{Issue: issue, At: due})
		}
	}
	memory.SortDue(list)
	return list, whole, nil
}

// Acted implements memory.Agenda. It downloads no record. Due.At is half an hour before the first record was
// saved after the time: a record is saved in the run of its newest task.
func (a *Artifact) Acted(ctx context.Context, repo string, after time.Time) (list []memory.Due, complete bool, err error) {
	if err := checkIssue(ctx, a.repo, repo, 1); err != nil {
		return nil, false, fmt.Errorf("list issues with new tasks: %w", err)
	}
	all, whole, listed := a.uploads.lists.newestOfAll()
	if !listed {
		if all, whole, err = a.uploads.reader.Recent(ctx, 0); err != nil {
			return nil, false, fmt.Errorf("list issues with new tasks: %w", err)
		}
		a.uploads.lists.putRecent(all, whole)
	}
	first := map[int]time.Time{}
	const (
		clockSkew = 2 * time.Minute  // of the machine whose clock dates the tasks, and GitHub's
		saveDelay = 30 * time.Minute // from a task to the artifact
	)
	for _, info := range all {
		issue, ok := parseRecord(info.Name)
		if !ok || info.Expired || info.CreatedAt.Before(after.Add(-clockSkew)) || a.uploads.trust.check(info, info.Name) != "" {
			continue
		}
		if at, known := first[issue]; !known || info.CreatedAt.Before(at) {
			first[issue] = info.CreatedAt
		}
	}
	for issue, at := range first {
		list = append(list, memory.Due{Issue: issue, At: at.Add(-saveDelay)})
	}
	memory.SortDue(list)
	return list, whole, nil
}
