package telemetry

import (
	"context"
	"errors"
	"sync"

	"github.com/org/foreman-action/queue"
)

// maxLabelValues is how many values a label has; later ones become "other".
const maxLabelValues = 200

// labelValues bounds the values of labels: a database may contain tasks of agents that are
// no longer configured. It is safe for concurrent use.
type labelValues struct {
	mu   sync.Mutex
	seen map[string]map[string]bool // values by label
}

// of returns the value to use for a label. An empty one becomes "none".
func (l *labelValues) of(label, value string) string {
	if value == "" {
		return "none"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.seen[label]
	switch {
	case known[value]:
		return value
	case len(known) >= maxLabelValues:
		return "other"
	case known == nil:
		known = map[string]bool{}
		l.seen[label] = known
	}
	known[value] = true
	return value
}

// mediumError is the outcome of an error that is not part of the queue's contract, such as
// one of the disk or the database.
const mediumError = "error"

// outcome returns the label value for an error of the queue.
func outcome(err error) string {
	for _, is := range []struct {
		err  error
		name string
	}{
		{nil, "ok"},
		{queue.ErrLost, "lost"}, {queue.ErrNotYours, "not_yours"}, {queue.ErrNotFound, "not_found"},
		{queue.ErrState, "state"}, {queue.ErrChanged, "changed"}, {queue.ErrEmpty, "empty"}, {context.Canceled, "cancelled"},
	} {
		if errors.Is(err, is.err) {
			return is.name
		}
	}
	return mediumError
}
