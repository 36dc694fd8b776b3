package dashboard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue"
)

// content is the part of a page that changes while the page is open.
type content struct {
	Overview *overview     `json:",omitempty"`
	Task     *taskPage     `json:",omitempty"`
	Pauses   *pauseSection `json:",omitempty"`
}

// version returns a text that differs for different contents; empty: no content.
func (c content) version() (string, error) {
	if c.Overview == nil && c.Task == nil {
		return "", nil
	}
	data, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("compare pages: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12]), nil
}

// contents builds the contents of pages from the queue.
type contents struct {
	reader     *reader
	links      links
	pauses     queue.Pauses       // nil: none are shown
	configured *filter.Configured // nil: not known
}

// overview returns the first page for a filter.
func (c *contents) overview(ctx context.Context, f queue.Filter) (content, error) {
	s, err := c.reader.snapshot(ctx, f)
	if err != nil {
		return content{}, err
	}
	return content{Overview: newOverview(f, s, c.links), Pauses: c.pauseSection(ctx)}, nil
}

// task returns the page of a task.
func (c *contents) task(ctx context.Context, id string) (content, error) {
	details, err := c.reader.queue.Inspect(ctx, id)
	if err != nil {
		return content{}, err
	}
	return content{Task: newTask(details, c.links), Pauses: c.pauseSection(ctx)}, nil
}
