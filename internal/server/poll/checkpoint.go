package poll

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
)

// Cursors store a text under a name, which is that of a repository in lower case.
type Cursors interface {
	// Cursor returns the text that was saved last under the name, or nil if there is none.
	Cursor(ctx context.Context, name string) ([]byte, error)
	// SaveCursor replaces the text. When it returns nil, the text is durable.
	SaveCursor(ctx context.Context, name string, data []byte) error
}

// checkpoints loads and saves the cursor of one repository.
type checkpoints struct {
	cursors Cursors
	key     string
	repo    string
	log     *slog.Logger
	saved   []byte // as loaded or saved last
}

// load returns the stored cursor. It replaces an unusable one by a new cursor; dedup keys then
// prevent duplicate tasks.
func (s *checkpoints) load(ctx context.Context) (*cursor, error) {
	data, err := s.cursors.Cursor(ctx, s.key)
	if err != nil {
		return nil, fmt.Errorf("read the cursor of %s: %w", s.repo, err)
	}
	s.saved = data
	if data == nil {
		return newCursor(), nil
	}
	c, err := decodeCursor(data)
	if errors.Is(err, errBroken) {
		s.log.ErrorContext(ctx, "cursor unusable; polling the repository as if for the first time", "error", err)
		return newCursor(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the cursor of %s: %w", s.repo, err)
	}
	return &c, nil
}

// save stores the cursor if it changed.
func (s *checkpoints) save(ctx context.Context, c *cursor) error {
	c.prune()
	data, err := json.Marshal(c)
	if err == nil && !bytes.Equal(data, s.saved) {
		err = s.cursors.SaveCursor(ctx, s.key, data)
	}
	if err != nil {
		return fmt.Errorf("save the cursor of %s: %w", s.repo, err)
	}
	s.saved = data
	return nil
}
