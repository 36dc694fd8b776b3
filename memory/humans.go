package memory

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/protocol"
)

// MaxChanges is the most changes that a record keeps.
const MaxChanges = 50

// maxHumans bounds the bytes of all changes of a record: they leave room for tasks.
const maxHumans = MaxSize / 4

// A Change is something that somebody else did to the issue. Comments are none.
type Change struct {
	At time.Time `json:"at"` // UTC
	// Type is the action that would do the same, such as
	// protocol.ActionRemoveLabel: letters a–z and '_'.
	Type   string   `json:"type"`
	Values []string `json:"values,omitempty"` // as in Action; never free text
	By     string   `json:"by,omitempty"`     // login; empty: not known
}

// changeType is the form of a change's type.
var changeType = regexp.MustCompile(`^[a-z_]{1,64}$`)

// check verifies the type of a change and its bounds.
func (c Change) check() error {
	switch {
	case !changeType.MatchString(c.Type):
		return fmt.Errorf("a human's change has the type %q", clip(c.Type, 60))
	case c.Type == protocol.ActionComment || c.Type == protocol.ActionUpdateComment:
		return fmt.Errorf("a human's %s is no change", c.Type)
	case !storable(c.At):
		return fmt.Errorf("the time of a human's %s is out of range", c.Type)
	case len(c.Values) > maxValues || !short(c.By) || !short(c.Values...):
		return fmt.Errorf("a human's change %s is too long", c.Type)
	}
	return nil
}

// checkHumans verifies the changes of a record.
func checkHumans(list []Change) error {
	if len(list) > MaxChanges {
		return fmt.Errorf("%d changes of humans", len(list))
	}
	for i, c := range list {
		if err := c.check(); err != nil {
			return err
		}
		if i > 0 && c.At.Before(list[i-1].At) {
			return errors.New("the changes of humans are not in order of time")
		}
	}
	if roomOf(list).sum() > maxHumans {
		return fmt.Errorf("the changes of humans take more than %d bytes", maxHumans)
	}
	return nil
}

// SetHumans replaces all that humans did: it is [Record.AddHumans] of somebody who has
// seen everything.
func (r *Record) SetHumans(list []Change) { r.AddHumans(list, time.Time{}) }

// AddHumans replaces what humans did at since or later, which is the time from which
// the caller has seen everything, and keeps what they did before. What is in the list
// and before since is added, unless it is known: changes with the same time, type,
// values and login are one, but for those of a list with another change of that time
// between them.
//
// Changes stand in order of time. Those before the oldest task that is kept are
// dropped, all of them when there is no task, and those whose type is that of a
// comment, or of no action's form. Texts that are too long are cut, and the oldest
// changes dropped, until there are [MaxChanges] at most and the record is within its
// bounds.
func (r *Record) AddHumans(list []Change, since time.Time) {
	since = clipTime(since) // as the changes are
	added := clipChanges(list)
	older := slices.DeleteFunc(clipChanges(r.Humans), func(c Change) bool {
		return !c.At.Before(since) || slices.ContainsFunc(added, c.equal)
	})
	r.Humans = boundHumans(slices.Concat(older, added))
	r.dropHumans()
	r.fitHumans()
}

// clipChanges returns a copy of each change within its bounds.
func clipChanges(list []Change) []Change {
	out := make([]Change, len(list))
	for i, c := range list {
		c.At, c.By, c.Values = clipTime(c.At), clip(c.By, maxShort), clipAll(c.Values)
		out[i] = c
	}
	return out
}

// boundHumans returns the newest changes of a list, as a record holds them.
func boundHumans(list []Change) []Change {
	list = slices.CompactFunc(tellable(clipChanges(list)), Change.equal)
	list = list[max(0, len(list)-MaxChanges):]
	sizes := roomOf(list)
	for sizes.sum() > maxHumans {
		sizes = sizes[1:]
	}
	return orNil(list[len(list)-len(sizes):])
}

func (c Change) equal(d Change) bool {
	return c.At.Equal(d.At) && c.Type == d.Type && c.By == d.By && slices.Equal(c.Values, d.Values)
}

// dropHumans drops what humans did before the oldest task that is kept.
func (r *Record) dropHumans() {
	if len(r.Tasks) == 0 {
		r.Humans = nil
		return
	}
	r.Humans = sinceTime(r.Humans, r.Tasks[0].At)
}

// sinceTime returns the changes from a time on; nil: there is none. The list is in
// order.
func sinceTime(list []Change, from time.Time) []Change {
	i := slices.IndexFunc(list, func(c Change) bool { return !c.At.Before(from) })
	if i < 0 {
		return nil
	}
	return list[i:]
}

// orNil returns nil for an empty list.
func orNil(list []Change) []Change {
	if len(list) == 0 {
		return nil
	}
	return list
}

// tellable returns the changes that a summary may tell, in order of time.
func tellable(list []Change) []Change {
	list = slices.DeleteFunc(slices.Clone(list), func(c Change) bool { return c.check() != nil })
	slices.SortStableFunc(list, func(a, b Change) int { return a.At.Compare(b.At) })
	return list
}

// tellHumans is "a human took off the label 'bug', closed as 'completed' on
// 2026-04-11", of changes on one day. What was done, undone and done again is told
// three times.
func tellHumans(list []Change) string {
	var did []string
	sum := Earlier{Done: map[string]int{}}
	for _, c := range list {
		sum.Done[c.Type]++
		s := verbOf(c.Type).tell(Action{Type: c.Type, Values: c.Values})
		if len(did) == 0 || did[len(did)-1] != s {
			did = append(did, s)
		}
	}
	if len(did) > maxParts {
		did = sum.counts()
	}
	return "a human " + strings.Join(did, ", ") + " on " + date(list[0].At)
}
