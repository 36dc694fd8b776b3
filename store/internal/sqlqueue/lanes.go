package sqlqueue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
)

// A task that is held back behind others of its issue and agent has a state of its own, and
// those that it waits for are marked: they are followed. So whoever ends a task knows whether
// to look for one that waits, and no other statement, least of all that of a claim, does
// more for it. A row that is marked is locked until the one that waits is there, and who
// ended a task looks afterwards: of the two, one sees the other.

// again is after what time it is looked whether those that a task waits for have ended, if
// that was missed.
const again = 5 * time.Minute

// A neighbour is a task of the same issue and agent that has not ended.
type neighbour struct {
	queue.Enqueued

	seq                      int64
	state, attempt, joinable int
}

// neighbours finds and marks the tasks of an issue and agent that have not ended, the oldest
// first.
func (s *Store) neighbours(tx Tx, lane, agent string) (list []neighbour, err error) {
	err = tx.Query(s.sql.follow, func(r Row) error {
		var n neighbour
		var ready int64
		err := r.Scan(&n.seq, &n.ID, &ready, &n.Behind, &n.state, &n.attempt, &n.joinable)
		n.Ready = timeOf(ready)
		list = append(list, n)
		return err
	}, tx.Now(), lane, agent)
	slices.SortFunc(list, func(a, b neighbour) int { return cmp.Compare(a.seq, b.seq) })
	return list, err
}

// joinable returns the newest of them that another task may be joined to.
func joinable(list []neighbour) (neighbour, bool) {
	for _, n := range slices.Backward(list) {
		if stateOf(n.state) == queue.Pending && n.attempt == 0 && n.joinable > 0 {
			return n, true
		}
	}
	return neighbour{}, false
}

// ahead names the one of them that a task waits for: the oldest that does not wait itself.
func ahead(list []neighbour) string {
	for _, n := range list {
		if n.state != stateBehind {
			return n.ID
		}
	}
	if len(list) > 0 {
		return list[0].ID
	}
	return ""
}

// keepBehind holds a task back behind another one.
func (s *Store) keepBehind(tx Tx, seq int64, id string) error {
	_, err := tx.Exec(s.sql.wait, tx.Now(), seq, again.Milliseconds(), id)
	return err
}

// inLine returns the task that one would wait for, if it is taken up again; empty: none.
func (s *Store) inLine(tx Tx, id string) (string, error) {
	t, err := lookup(tx, s.sql.find, id)
	if err != nil || t.joinable == 0 || t.issue == 0 || t.agent == "" {
		return "", err
	}
	if err := s.exclusive(tx, t.name); err != nil {
		return "", err
	}
	list, err := s.neighbours(tx, t.name, t.agent)
	return ahead(slices.DeleteFunc(list, func(n neighbour) bool { return n.seq == t.seq })), err
}

// A lane is where a task stands among those of its issue and agent.
type lane struct {
	agent, name string
	followed    int // 1: others may wait for its end
}

// over is what is to be done when a transaction is over in which tasks ended.
type over struct {
	lanes  []lane   // where others may wait
	agents []string // whose tasks are ready
}

func (o *over) add(more over) {
	o.lanes, o.agents = append(o.lanes, more.lanes...), append(o.agents, more.agents...)
}

// ended lets the task go that waited for the end of one. Where transactions run beside each
// other that is for a transaction of its own, behind this one: the task that waits may be
// held by somebody who waits for this one.
func (s *Store) ended(tx Tx, l lane) (o over, err error) {
	switch {
	case l.followed == 0:
		return over{}, nil
	case s.engine.Dialect().crowded():
		return over{lanes: []lane{l}}, nil
	}
	o.agents, err = s.letNext(tx, l)
	return o, err
}

// follows does what is left to be done after a transaction. What fails is done later: see
// rearm.
func (s *Store) follows(ctx context.Context, o over) {
	for _, l := range o.lanes {
		var agents []string
		err := s.engine.Write(context.WithoutCancel(ctx), func(tx Tx) (err error) {
			agents, err = s.letNext(tx, l)
			return err
		})
		if err == nil {
			o.agents = append(o.agents, agents...)
		}
	}
	s.tell(o.agents...)
}

// letNext lets the task go that waits first in a lane, unless there is another one that it waits
// for. It returns the agent, if its task is ready then. Whoever ends another one looks
// here afterwards too: one of the two sees the end of both.
func (s *Store) letNext(tx Tx, l lane) (agents []string, err error) {
	if err := s.exclusive(tx, l.name); err != nil {
		return nil, err
	}
	var seq int64
	var first, ahead string
	waits, err := one(tx, s.sql.next, func(r Row) error { return r.Scan(&seq, &first) }, l.name, l.agent)
	if err != nil || !waits {
		return nil, err
	}
	blocked, err := one(tx, s.sql.ahead, func(r Row) error { return r.Scan(&ahead) }, l.name, l.agent)
	if err != nil {
		return nil, err
	}
	if !blocked {
		ahead = first
		state := -1
		if _, err := one(tx, s.sql.letGo, func(r Row) error { return r.Scan(&state) }, tx.Now(), seq); err != nil {
			return nil, err
		}
		if state == statePending {
			agents = append(agents, l.agent)
		}
	}
	_, err = tx.Exec(s.sql.tellAhead, l.name, l.agent, ahead)
	return agents, err
}

// rearm looks again at tasks that have waited for long.
func (s *Store) rearm(tx Tx) (o over, err error) {
	lanes := map[lane]bool{}
	err = tx.Query(s.sql.rearm, func(r Row) error {
		l := lane{followed: 1}
		err := r.Scan(&l.agent, &l.name)
		lanes[l] = true
		return err
	}, tx.Now(), again.Milliseconds())
	if err != nil {
		return over{}, err
	}
	for l := range lanes {
		ended, err := s.ended(tx, l)
		if err != nil {
			return over{}, err
		}
		o.add(ended)
	}
	return o, nil
}
