package plan

import (
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/triage"
)

// An Attempt describes the run that carries out a plan.
type Attempt struct {
	history.Identity

	Now time.Time
	// Since is a time before which this task cannot have written.
	Since time.Time
	// Resumed means that an earlier attempt at the task may have written.
	Resumed bool
	// Began reports whether an earlier attempt may have begun the action with an index, and its
	// outcome is unknown. Nil: there is none.
	Began func(index int) bool
	// Recreated reports whether an earlier attempt may have created a label that the issue has, because the
	// repository had it no more. Then the step is repeated, and takes it back. Nil: it has not.
	Recreated func(names []string, on []triage.LabelID) bool
	// Fresh means that nothing has happened on the issue before, except by others who got the same
	// event. Then its timeline is read only before a comment. Fresh is ignored if Resumed is set.
	Fresh bool
	// Untouched means that the issue was read for the task and shows that nothing has happened on it since
	// it was opened. Then its timeline is not read. Untouched is ignored if Resumed is set.
	Untouched bool
	// Read means that the issue was read for the task, instead of being taken from an event. So
	// nothing has happened on it after its UpdatedAt.
	Read bool
	// Said is the comment that caused the event, as the timeline lists it; zero: none.
	Said triage.TimelineEvent
	// Proposes means that the record may have answers of people to proposals.
	Proposes bool
	// Remembers means that the memory may forbid labels. UsesMemory means that the memory may be
	// read for this purpose alone.
	Remembers, UsesMemory bool
}

// Snapshot is the data that was read in addition to the event. A nil part was not read.
type Snapshot struct {
	// Settled means that Issue and Comments were read when the writes of earlier attempts could no
	// longer take effect.
	Settled  bool
	Issue    *triage.Issue
	Comments *Comments
	Timeline *triage.Timeline
	Record   *memory.Record
	Kept     *memory.Record // as it was saved, for its proposals
	Pull     *triage.PullRequest
	Ours     map[string]*Comments // results of Need.Ours, by Need.Key
	// Labels maps the folded name of a label that was looked up to the repository's spelling, or to
	// "" if the repository does not have the label.
	Labels map[string]string
	// Assumed has those of Labels that the host only remembers.
	Assumed map[string]string
}

// Comments are the comments on an issue that may be the task's.
type Comments struct {
	List []triage.Comment
	Err  error // triage.ErrTruncated if there are too many comments to read; nil: List has all
}

// A Need lists the data that must be read next. The zero value means that none is needed.
type Need struct {
	Issue, Comments, Timeline, Record, Kept, Pull bool

	Settled bool     // Issue and Comments again, because a write of an earlier attempt may still take effect
	Earlier bool     // with Timeline: the part before the events that were read
	Labels  []string // labels to be looked up in the repository, or remembered, because they are added
	Former  []string // labels to be looked up in the repository now
	// Ours needs the comments of the issue, from the newest back to one for which it returns true.
	// Key is the key of Snapshot.Ours.
	Ours func(triage.Comment) bool
	Key  string
}

// Nothing reports whether no data must be read.
func (n Need) Nothing() bool {
	return !n.Issue && !n.Comments && !n.Timeline && !n.Record && !n.Kept && !n.Pull && n.Ours == nil && !n.Settled && len(n.Labels)+len(n.Former) == 0
}
