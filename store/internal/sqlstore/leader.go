package sqlstore

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"
)

// Leaders elect a leader by a lease in a table, which the leader renews. They are safe for
// concurrent use.
type Leaders struct {
	engine Engine
	log    *slog.Logger
	leadStatements
}

// NewLeaders returns the leaders of a database that [Migrate] was run on. log gets the errors of
// the database.
func NewLeaders(e Engine, d Dialect, log *slog.Logger) *Leaders {
	return &Leaders{e, log, newLeadStatements(d)}
}

type leadStatements struct{ seize, abdicate string }

func newLeadStatements(d Dialect) leadStatements {
	return leadStatements{
		seize: d.Expand(`INSERT INTO leader (name, owner, until) VALUES ($2, $3, {now} + $4)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE leader.owner = excluded.owner OR leader.until <= {now}`),
		abdicate: "DELETE FROM leader WHERE name = $1 AND owner = $2",
	}
}

// leadFor is the duration of a leader's lease. leadRenew is the interval at which it is renewed.
const (
	leadFor   = 15 * time.Second
	leadRenew = 5 * time.Second
)

// Lead waits until this process is the leader for a name, among all processes that use the
// database, and then runs f. If it loses the lease, it cancels f's context and waits again. It
// returns f's error when f returns by itself, and otherwise the context's error. Another process
// leads at most 20 s after the leader was killed. When a leader cannot reach the database, there
// may be two leaders for a moment, which f must tolerate.
func (s *Leaders) Lead(ctx context.Context, name string, f func(context.Context) error) error {
	owner := rand.Text()
	for {
		leads, err := s.take(ctx, name, owner)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "leader election failed; trying again", "lead", name, "again_in", leadRenew, "error", err)
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

// take acquires or renews the lease for owner, unless another owner has it.
func (s *Leaders) take(ctx context.Context, name, owner string) (leads bool, err error) {
	n, err := Value(ctx, s.engine.WriteOne, func(tx Tx) (int64, error) {
		return tx.Exec(s.seize, tx.Now(), name, owner, leadFor.Milliseconds())
	})
	return n > 0 && err == nil, err
}

// reign runs f while owner is the leader. lost is true if f was cancelled because the lease
// was lost.
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
			// Delete the lease, so that the next leader need not wait until it expires.
			_ = s.engine.WriteOne(context.WithoutCancel(ctx), func(tx Tx) error {
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
