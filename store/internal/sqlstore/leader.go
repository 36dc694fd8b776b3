package sqlstore

import (
	"context"
	"crypto/rand"
	"time"
)

// Leaders keep who leads, for a time that the one who leads makes longer again and again.
// They are safe for concurrent use.
type Leaders struct {
	engine Engine
	leadStatements
}

// NewLeaders returns the leaders of a database that [Migrate] was run on.
func NewLeaders(e Engine, d Dialect) *Leaders { return &Leaders{e, newLeadStatements(d)} }

type leadStatements struct{ seize, abdicate string }

func newLeadStatements(d Dialect) leadStatements {
	return leadStatements{
		seize: d.Expand(`INSERT INTO leader (name, owner, until) VALUES ($2, $3, {now} + $4)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE leader.owner = excluded.owner OR leader.until <= {now}`),
		abdicate: "DELETE FROM leader WHERE name = $1 AND owner = $2",
	}
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
func (s *Leaders) Lead(ctx context.Context, name string, f func(context.Context) error) error {
	owner := rand.Text()
	for {
		leads, err := s.take(ctx, name, owner)
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

// take makes owner the leader, or keeps it so, if nobody else is.
func (s *Leaders) take(ctx context.Context, name, owner string) (leads bool, err error) {
	err = s.engine.Single(ctx, func(tx Tx) error {
		n, err := tx.Exec(s.seize, tx.Now(), name, owner, leadFor.Milliseconds())
		leads = n > 0
		return err
	})
	return leads && err == nil, err
}

// reign runs f while owner is the leader. lost says that it was ended because it is no
// more.
func (s *Leaders) reign(ctx context.Context, name, owner string, f func(context.Context) error) (lost bool, err error) {
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
				_, err := tx.Exec(s.abdicate, name, owner)
				return err
			})
			return lost, err
		case <-tick.C:
		}
		renewing, stop := context.WithDeadline(ctx, until)
		leads, err := s.take(renewing, name, owner)
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
