package sqlqueue

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
)

// Cursor returns what SaveCursor kept of a repository, for a poller; nil: nothing. Case
// does not matter.
func (s *Store) Cursor(ctx context.Context, repo string) (data []byte, err error) {
	err = s.engine.Look(ctx, func(tx Tx) error {
		data = nil
		_, err := one(tx, s.sql.cursor, func(r Row) error { return r.Scan(&data) }, strings.ToLower(repo))
		return err
	})
	return data, doing("read the cursor of "+repo, err)
}

// SaveCursor keeps how far the poller of a repository came. When it returns nil, that is
// durable.
func (s *Store) SaveCursor(ctx context.Context, repo string, data []byte) error {
	err := s.engine.Single(ctx, func(tx Tx) error {
		_, err := tx.Exec(s.sql.saveCursor, tx.Now(), strings.ToLower(repo), text(data))
		return err
	})
	return doing("save the cursor of "+repo, err)
}

// How leadership is kept. A leader that is not heard of for so long is one no more.
const (
	leadFor   = 15 * time.Second
	leadRenew = 5 * time.Second
)

// Lead runs f while this process is the one that leads under a name, among all that use
// the database: it waits until it is, and ends f's context when it is no more, and then
// waits again. It returns what f does, once f returned by itself, or the context's error. There may be two
// leaders for a moment when one is cut off; f must not harm then.
func (s *Store) Lead(ctx context.Context, name string, f func(context.Context) error) error {
	owner := rand.Text()
	for {
		leads, err := s.seize(ctx, name, owner)
		if err != nil && ctx.Err() == nil {
			leads = false // the medium; it is tried again
		}
		if leads {
			lost, err := s.reign(ctx, name, owner, f)
			if !lost {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(leadRenew):
		}
	}
}

// seize makes owner the leader, or keeps it so, if nobody else is.
func (s *Store) seize(ctx context.Context, name, owner string) (leads bool, err error) {
	err = s.engine.Single(ctx, func(tx Tx) error {
		n, err := tx.Exec(s.sql.seize, tx.Now(), name, owner, leadFor.Milliseconds())
		leads = n > 0
		return err
	})
	return leads && err == nil, err
}

// reign runs f while owner is the leader. lost says that it was ended because it is no
// more.
func (s *Store) reign(ctx context.Context, name, owner string, f func(context.Context) error) (lost bool, err error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- f(inner) }()
	until := time.Now().Add(leadFor)
	tick := time.NewTicker(leadRenew)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			// Somebody else need not wait for the lease to run out.
			_ = s.engine.Single(context.WithoutCancel(ctx), func(tx Tx) error {
				_, err := tx.Exec(s.sql.abdicate, name, owner)
				return err
			})
			return lost, err
		case <-tick.C:
		}
		renewing, stop := context.WithDeadline(ctx, until)
		leads, err := s.seize(renewing, name, owner)
		stop()
		switch {
		case leads:
			until = time.Now().Add(leadFor)
		case err == nil || !time.Now().Before(until.Add(-leadRenew)):
			lost = ctx.Err() == nil
			cancel()
		}
	}
}
