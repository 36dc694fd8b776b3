package memory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/org/foreman-action/internal/wait"
)

// updateTries is the most times that [Update] loads and saves a record.
const updateTries = 10

// Update loads the record of an issue, calls change to alter it, and saves it. A missing or
// broken record is replaced with a new one. After a conflict Update starts again with the record
// that is stored then. It tries 10 times at most. It returns the record as it is stored. change
// may be called several times; its error ends the update.
//
// After the first conflict Update starts again at once. After each further conflict it waits for
// a random time, so that competing writers do not collide again. The longest wait is 1 ms at
// first and doubles with each conflict. The end of ctx ends the wait.
func Update(ctx context.Context, s Store, repo string, issue int, change func(*Record) error) (Record, error) {
	for try := 1; ; try++ {
		r, err := s.Load(ctx, repo, issue)
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrBroken):
			r = Record{Repo: repo, Issue: issue}
		case err != nil:
			return Record{}, err
		}
		if err := change(&r); err != nil {
			return Record{}, err
		}
		err = s.Save(ctx, r)
		if err == nil {
			r.Schema, r.Revision = r.StoredSchema(), r.Revision+1
			return r, nil
		}
		if !errors.Is(err, ErrConflict) || try == updateTries {
			return Record{}, fmt.Errorf("update the record of %s#%d: %w", repo, issue, err)
		}
		if err := pause(ctx, try); err != nil {
			return Record{}, fmt.Errorf("update the record of %s#%d: wait to try again: %w", repo, issue, err)
		}
	}
}

// pause waits after a try that met a conflict.
func pause(ctx context.Context, try int) error {
	if try == 1 {
		return ctx.Err()
	}
	return wait.For(ctx, rand.N(time.Millisecond<<(try-2))) //nolint:gosec // it only keeps writers apart
}
