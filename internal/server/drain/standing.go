package drain

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/agent"
)

// A standing is how an agent does that answers a task with the decision. While it is out
// of order it is asked about one task at a time, and ever more seldom. That is not the
// tasks' fault, unless it decides on others meanwhile.
type standing struct {
	mu      sync.Mutex // guards what follows
	asked   int        // tasks that it is asked about, or is about to be
	room    int        // that it is asked about at a time; 0: as many as it may have
	fails   int        // in a row; 0: it is in order
	spell   int        // counts what told that it is out of order
	next    time.Time  // when it is worth a try again, if it is out of order
	first   string     // the task with which that began; empty: it is not only this one
	probing bool       // it is being tried
	decided int        // decisions that it made
	trouble map[string]*trouble
}

// A trouble is what is known of a task that the agent did not decide on.
type trouble struct {
	failed  int // so often
	strikes int // so often although the agent decided on another task since the last time
	decided int // standing.decided then
	tried   int // so often that counts
	at      time.Time
	own     time.Time // since when the agent itself has said that it fails; zero: it did not, the last time
}

// A turn is a leave to ask an agent about a task.
type turn struct {
	probe bool // it is out of order: whether it is alive is to be seen first
	spell int
}

// grant says about how many of n tasks the agent may be asked now. For each of them
// comes an end.
func (s *standing) grant(n int) (turn, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := turn{spell: s.spell}
	switch {
	case s.fails > 0 && (s.probing || time.Now().Before(s.next)):
		return t, 0
	case s.fails > 0:
		t.probe, n = true, min(n, 1)
	case s.room > 0:
		n = min(n, s.room-s.asked)
	}
	n = max(n, 0)
	s.asked += n
	s.probing = s.probing || t.probe && n > 0
	return t, n
}

// end gives a leave back.
func (s *standing) end(t turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked--
	s.probing = s.probing && !t.probe
}

// well notes that the agent decided on a task.
func (s *standing) well(task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decided++
	delete(s.trouble, task)
	for id, tr := range s.trouble {
		if time.Since(tr.at) > outageEnd {
			delete(s.trouble, id)
		}
	}
	s.alive()
}

// alive notes that the agent is in order. After it was not, it gets more by and by. The
// caller holds s.mu.
func (s *standing) alive() {
	s.fails = 0
	if s.room *= 2; s.room > maxCap {
		s.room = 0
	}
}

// out notes that the agent is out of order, and returns how long it is left alone. What was
// begun before that was known tells nothing new.
func (s *standing) out(t turn) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = ""
	s.fell(t, true)
	return s.rest()
}

// fell is out. Only what is news makes the agent be tried more seldom. The caller holds
// s.mu.
func (s *standing) fell(t turn, news bool) {
	if news && t.spell == s.spell {
		s.fails, s.spell, s.room = s.fails+1, s.spell+1, 1
	} else if !t.probe {
		return
	}
	s.next = time.Now().Add(backoff(s.fails-1, outageMost))
}

// rest is how long the agent is left alone from now on. The caller holds s.mu.
func (s *standing) rest() time.Duration { return max(time.Until(s.next), time.Second) }

// wrong notes that what the agent answered is of no use for this task, and returns after
// what time it is worth asking again.
func (s *standing) wrong(task string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	tr := s.about(task)
	tr.failed++
	s.alive()
	return backoff(tr.failed, maxBackoff)
}

// ill notes that the agent did not get to decide on a task. If that is so with one task
// alone, it tells of the agent only once. wait is how long the task waits: longer
// than the agent is left alone, so that it is the turn of another one. counts says that the
// agent fails on this task, and not on others, as often as most, or that it has said itself
// for a long time that it fails on this one.
func (s *standing) ill(t turn, task string, err error, most int) (wait time.Duration, counts bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tr := s.about(task)
	switch {
	case s.fails == 0 && tr.failed == 0:
		s.first = task
	case s.first != task:
		s.first = ""
	}
	s.fell(t, tr.failed == 0 || s.fails > 0 && s.first == "")
	if tr.failed > 0 && s.decided > tr.decided && statusOf(err) != http.StatusTooManyRequests {
		tr.strikes++
	}
	tr.failed++
	tr.decided = s.decided
	switch own := faulty(statusOf(err)); {
	case !own:
		tr.own = time.Time{}
	case tr.own.IsZero():
		tr.own = time.Now()
	}
	stays := !tr.own.IsZero() && time.Since(tr.own) >= faultyFor
	rounds := 3
	if tr.failed > rounds { // as many as there are may stand before one that it can decide on
		rounds = min(max(rounds, len(s.trouble)), maxRounds)
	}
	wait = max(s.rest()*time.Duration(1+min(tr.failed, rounds)), backoff(tr.failed, outageMost))
	return wait, tr.strikes >= most || stays
}

// maxRounds is how many turns of other tasks a task is left out for at most.
const maxRounds = 24

// tried notes that not deciding on a task counts, and returns how often it did.
func (s *standing) tried(task string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	tr := s.about(task)
	tr.tried++
	return tr.tried
}

// forget forgets a task that is asked about no more.
func (s *standing) forget(task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.trouble, task)
}

// about returns what is known of a task. The caller holds s.mu.
func (s *standing) about(task string) *trouble {
	if s.trouble == nil {
		s.trouble = map[string]*trouble{}
	}
	if s.trouble[task] == nil {
		s.trouble[task] = &trouble{}
	}
	s.trouble[task].at = time.Now()
	return s.trouble[task]
}

// errUnaskable says that no agent can be asked at its address.
var errUnaskable = errors.New("it cannot be asked")

// ailing reports whether an agent gave no decision for a reason that every task would have
// met, as far as one can tell.
func ailing(err error) bool {
	e, ok := errors.AsType[*agent.Error](err)
	if !ok {
		return errors.Is(err, errUnaskable)
	}
	switch e.Reason {
	case agent.ReasonAuth, agent.ReasonUnreachable, agent.ReasonTimeout, agent.ReasonCanceled:
		return true
	case agent.ReasonStatus:
		return e.Status < 400 || broken(e.Status)
	case agent.ReasonLost, agent.ReasonTooLarge, agent.ReasonNotJSON, agent.ReasonInvalid, agent.ReasonWrongTask:
	}
	return false
}

// broken reports whether a status says that whoever answers is out of order, or has too
// much to do.
func broken(status int) bool {
	return status >= http.StatusInternalServerError || status == http.StatusTooManyRequests
}

// faultyFor is how long an agent may say of a task that it fails on it, before that counts.
const faultyFor = time.Hour

// faulty reports whether a status is what a program answers when it fails by itself, and
// not what something before it does.
func faulty(status int) bool {
	return status == http.StatusInternalServerError || status == http.StatusNotImplemented
}

func statusOf(err error) int {
	if e, ok := errors.AsType[*agent.Error](err); ok {
		return e.Status
	}
	return 0
}
