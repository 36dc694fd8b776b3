package memory

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/text"
)

// MaxChanges is the most changes that a record keeps.
const MaxChanges = 50

// maxHumans is the most bytes of all changes of a record, so that there is room for tasks.
const maxHumans = MaxSize / 4

// A Change is one thing that a human did to the issue. Comments are not changes.
type Change struct {
	At time.Time `json:"at"` // UTC
	// Type is the type of the action that would make the same change, such as
	// protocol.ActionRemoveLabel. It contains only the letters a–z and '_'.
	Type   string   `json:"type"`
	Values []string `json:"values,omitempty"` // as in Action; never free text
	By     string   `json:"by,omitempty"`     // login; empty: not known
}

// changeType is the form of a change's type.
var changeType = text.Regexp(`^[a-z_]{1,64}$`)

// check verifies the type of a change and its bounds.
func (c Change) check() error {
	switch {
	case !changeType().MatchString(c.Type):
		return fmt.Errorf("a human's change has the invalid type %q", clip(c.Type, 60))
	case isComment(c.Type):
		return fmt.Errorf("a human's %s is not a change", c.Type)
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
		return fmt.Errorf("the record has %d changes of humans, more than %d", len(list), MaxChanges)
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

// clipChanges returns a copy of each change within its bounds.
func clipChanges(list []Change) []Change {
	out := make([]Change, len(list))
	for i, c := range list {
		c.At, c.By, c.Values = clipTime(c.At), clip(c.By, maxShort), clipAll(c.Values)
		out[i] = c
	}
	return out
}

// boundHumans returns the newest valid changes of a list that fit into the bounds of a record.
func boundHumans(list []Change) []Change {
	list = slices.CompactFunc(validChanges(clipChanges(list)), Change.equal)
	list = list[max(0, len(list)-MaxChanges):]
	sizes := roomOf(list)
	for sizes.sum() > maxHumans {
		sizes = sizes[1:]
	}
	return orNil(list[len(list)-len(sizes):])
}

// equal reports whether two changes have the same time, type, login and values.
func (c Change) equal(d Change) bool {
	return c.At.Equal(d.At) && c.Type == d.Type && c.By == d.By && slices.Equal(c.Values, d.Values)
}

// sinceTime returns the changes at or after from; nil: none. The list is in order of time.
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

// validChanges returns the changes that pass their check, in order of time.
func validChanges(list []Change) []Change {
	list = slices.DeleteFunc(slices.Clone(list), func(c Change) bool { return c.check() != nil })
	order.Stable(list, func(a, b Change) int { return a.At.Compare(b.At) })
	return list
}
