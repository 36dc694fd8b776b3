package sqlstore

import (
	"context"
	"strings"
)

// Cursors store the positions of pollers. They are safe for concurrent use.
type Cursors struct {
	engine Engine
	cursorStatements
}

// NewCursors returns the cursors of a database that [Migrate] was run on.
func NewCursors(e Engine, d Dialect) *Cursors { return &Cursors{e, newCursorStatements(d)} }

type cursorStatements struct{ cursor, saveCursor string }

func newCursorStatements(d Dialect) cursorStatements {
	return cursorStatements{
		cursor: "SELECT data FROM poll_cursor WHERE repo = $1",
		saveCursor: d.Expand(`INSERT INTO poll_cursor (repo, at, data) VALUES ($2, {now}, $3)
ON CONFLICT (repo) DO UPDATE SET at = excluded.at, data = excluded.data`),
	}
}

// Cursor returns the stored cursor of a repository's poller; nil: none. Case does not
// matter.
func (s *Cursors) Cursor(ctx context.Context, repo string) (data []byte, err error) {
	err = s.engine.ReadOne(ctx, func(tx Tx) error {
		data = nil
		_, err := One(tx, s.cursor, Into(&data), strings.ToLower(repo))
		return err
	})
	return data, Wrap("read the cursor of "+repo, err)
}

// SaveCursor stores the cursor of a repository's poller. When it returns nil, the cursor is
// durable.
func (s *Cursors) SaveCursor(ctx context.Context, repo string, data []byte) error {
	err := s.engine.WriteOne(ctx, func(tx Tx) error {
		_, err := tx.Exec(s.saveCursor, tx.Now(), strings.ToLower(repo), Text(data))
		return err
	})
	return Wrap("save the cursor of "+repo, err)
}
