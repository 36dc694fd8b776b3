package taskjson

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/queue"
)

// Version returns the version of a task as a caller saw it, such as "failed.2.1": its state, its claims
// and the leases of its decisions.
func Version(s queue.Seen) string {
	return string(s.State) + "." + strconv.Itoa(s.Attempt) + "." + strconv.FormatInt(s.Epoch, 10)
}

// Seen returns the task with the id as a caller saw it. version is what Version returned then; empty: the
// caller did not see the task.
func Seen(id, version string) (queue.Seen, error) {
	s := queue.Seen{ID: id}
	if version == "" {
		return s, nil
	}
	parts := strings.Split(version, ".")
	wrong := fmt.Errorf("want a version such as failed.2.1, as the task has it, got %q", text.Quote(version))
	if len(parts) != 3 || !slices.Contains(queue.States(), queue.State(parts[0])) {
		return s, wrong
	}
	attempt, err := strconv.ParseInt(parts[1], 10, 32)
	if err != nil || attempt < 0 {
		return s, wrong
	}
	epoch, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || epoch < 0 {
		return s, wrong
	}
	s.State, s.Attempt, s.Epoch = queue.State(parts[0]), int(attempt), epoch
	return s, nil
}
