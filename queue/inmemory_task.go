package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// task is the stored state of a task.
type task struct {
	Info

	message, origin []byte
	result          []byte // nil: none
	report          []byte
	log             []Entry
	coalesces       bool      // the task was enqueued with Coalesce
	title           string    // as FoldTitle returns it
	deliveries      []string  // Delivery of the task and of the tasks that were coalesced into it
	dedup           []string  // Dedup of the task and of the tasks that were coalesced into it
	followed        bool      // other tasks may be held back behind it
	waited          bool      // the task was held back behind others
	claimedBy       string    // credential of the last claim
	claims          int       // claims since the last Retry, without released ones
	decided         bool      // the task has a result
	askedAttempt    int       // claims before AskAgain; -1: not asked again
	askedEpoch      int64     // leases before AskAgain
	slot            time.Time // time at which the task counts towards the hourly limit; zero: it does not count
}

// newTask returns a task that is enqueued now. turn is the earliest time that the hourly limit
// allows.
func newTask(in Task, seq int64, now, turn time.Time) *task {
	t := &task{
		message: slices.Clone(in.Message), origin: slices.Clone(in.Origin), coalesces: in.Coalesce, dedup: []string{in.Dedup}, askedAttempt: -1,
		title: FoldTitle(in.Title), deliveries: []string{in.Delivery},
		Info: Info{
			Seq: seq, ID: in.ID, Agent: in.Agent, Repo: in.Repo, Issue: in.Issue,
			State: Pending, Priority: in.Priority, Enqueued: now,
		},
	}
	if in.Agent == "" {
		t.State, t.Completed = Completed, now
	}
	ready := now.Add(in.Wait)
	if turn.After(ready) {
		ready = turn
		t.Reason = fmt.Sprintf("hourly limit reached: %d tasks of %s within an hour", in.HourlyLimit, in.Repo)
	}
	if in.HourlyLimit > 0 {
		t.slot = ready
	}
	if ready.After(now) {
		t.Ready = ready
	}
	return t
}

// held reports whether a task is held back. A task that is claimed, carried out or ended is not.
func (t *task) held(now time.Time) bool {
	waits := t.State == Pending || t.State == Completed && !t.Draining
	return waits && (t.Ready.After(now) || t.Behind != "")
}

// ended reports whether a task is done or failed.
func (t *task) ended() bool { return t.State == Done || t.State == Failed }

// expired reports whether the claim or the lease has expired.
func (t *task) expired(now time.Time) bool { return !t.Until.IsZero() && !t.Until.After(now) }

// lane returns the key of the task's issue, or "" for a task without an issue.
func (t *task) lane() string { return lane(t.Repo, t.Issue) }

func lane(repo string, issue int) string {
	if issue == 0 {
		return ""
	}
	return strings.ToLower(repo) + "#" + strconv.Itoa(issue)
}

// info returns the task's public Info.
func (t *task) info(now time.Time) Info {
	i := t.Info
	i.Held = t.held(now)
	if i.Behind != "" {
		i.Reason, i.Ready = "waits for task "+i.Behind+" of the same issue", time.Time{}
	}
	return i
}

// enqueued returns the result of Enqueue for a task that was added, or is a duplicate, or was
// coalesced into t.
func (t *task) enqueued(how Outcome, now time.Time) Enqueued {
	e := Enqueued{Outcome: how, ID: t.ID, Behind: t.Behind}
	if t.held(now) && t.Behind == "" {
		e.Ready = t.Ready
	}
	return e
}

// addLog appends an entry to the log. A full log keeps its first and its newest entries.
func (t *task) addLog(now time.Time, what, who, text string) {
	if len(t.log) == MaxLogs {
		t.log = slices.Delete(t.log, MaxLogs/2, MaxLogs/2+1)
	}
	t.log = append(t.log, Entry{At: now, What: what, Who: CleanText(who), Text: CleanText(text)})
}

// join coalesces a new task into t. It reports false if the Join function of the new task does not
// allow that.
func (t *task) join(in Task) bool {
	joined, ok := in.Joins(t.ID, Body{Message: slices.Clone(t.message), Origin: slices.Clone(t.origin)})
	if !ok {
		return false
	}
	t.message, t.origin, t.dedup = slices.Clone(joined.Message), slices.Clone(joined.Origin), append(t.dedup, in.Dedup)
	t.Priority, t.title = max(t.Priority, in.Priority), cmp.Or(FoldTitle(in.Title), t.title)
	if in.Dedup != "" {
		t.deliveries = append(t.deliveries, in.Delivery)
	}
	return true
}

// claim hands the task to an agent.
func (t *task) claim(now time.Time, o ClaimOptions) Claim {
	t.State, t.claimedBy, t.Owner = Claimed, CleanText(o.By), CleanText(o.By)
	t.Attempt++
	t.claims++
	t.Claimed, t.Until, t.Ready = now, now.Add(o.Lease), time.Time{}
	return Claim{
		ID: t.ID, Message: slices.Clone(t.message), Origin: slices.Clone(t.origin),
		Attempt: t.Attempt, Until: t.Until, Enqueued: t.Enqueued, Waited: t.waited,
	}
}

// claimedByOther reports whether the last claim has another credential than ref.
func (t *task) claimedByOther(ref Ref) bool {
	return ref.By != "" && CleanText(ref.By) != t.claimedBy
}

// complete stores a decision, or returns the reason why it is rejected.
func (t *task) complete(now time.Time, ref Ref, decision []byte) (reason string, err error) {
	switch {
	case t.claimedByOther(ref):
		reason, err = "another agent claimed it", ErrNotYours
	case t.State == Failed:
		reason = "the task failed before"
	case t.State != Pending && t.State != Claimed:
		reason = "the task is decided on already"
	case ref.Attempt != 0 && ref.Attempt != t.Attempt && t.State == Claimed:
		reason, err = "the task was given to another attempt", ErrLost
	case t.State == Pending && (t.Attempt <= t.askedAttempt || ref.Attempt != 0 && ref.Attempt <= t.askedAttempt):
		reason = "the task was asked again since"
		if ref.Attempt != 0 {
			err = ErrLost
		}
	}
	if reason != "" {
		t.addLog(now, "decision not accepted", ref.By, reason+": "+string(decision))
		return reason, err
	}
	t.State, t.decided, t.result, t.Completed = Completed, true, slices.Clone(decision), now
	t.Until, t.Ready, t.Reason, t.Behind = time.Time{}, time.Time{}, "", ""
	return "", nil
}

// lease leases the decision so that it can be carried out.
func (t *task) lease(now time.Time, o DrainOptions) Decision {
	t.Draining, t.Owner, t.Until, t.Ready = true, CleanText(o.Owner), now.Add(o.Lease), time.Time{}
	t.Epoch++
	return Decision{
		Lease: Lease{ID: t.ID, Epoch: t.Epoch}, Until: t.Until, Agent: t.Agent, Repo: t.Repo, Issue: t.Issue,
		Message: slices.Clone(t.message), Origin: slices.Clone(t.origin), Result: slices.Clone(t.result),
		Tries: t.Tries, Asks: t.Asks, Leases: t.Epoch - t.askedEpoch, Enqueued: t.Enqueued, Completed: t.Completed,
	}
}

// end makes the task done, or failed for a reason.
func (t *task) end(now time.Time, state State, reason string) {
	t.State, t.Ended, t.Reason = state, now, CleanText(reason)
	t.Draining, t.Until, t.Ready, t.Behind = false, time.Time{}, time.Time{}, ""
}

// exhaust fails a task that was handed out as often as the limits allow. It reports whether it did.
func (t *task) exhaust(now time.Time, l Limits) bool {
	tries := t.Tries
	if t.Draining {
		tries++
	}
	switch {
	case l.Claims > 0 && t.claims >= l.Claims && (t.State == Pending || t.State == Claimed && t.expired(now)):
		t.end(now, Failed, fmt.Sprintf("claimed %d times without a decision", t.claims))
	case l.Drains > 0 && tries >= l.Drains && t.State == Completed && (!t.Draining || t.expired(now)):
		t.Tries = tries
		t.end(now, Failed, fmt.Sprintf("not applied in %d tries: %s", tries, t.Reason))
	default:
		return false
	}
	t.addLog(now, "given up", "", t.Reason)
	return true
}

// requeue ends an expired claim or lease. It reports whether it did.
func (t *task) requeue(now time.Time) bool {
	if !t.expired(now) {
		return false
	}
	t.Until = time.Time{}
	if t.Draining {
		t.Draining = false
		t.Tries++
		t.addLog(now, "lease ran out", t.Owner, "")
	} else {
		t.State = Pending
		t.addLog(now, "requeued", t.claimedBy, "the claim ran out")
	}
	return true
}

// retry makes a task that failed or is held back ready again, and resets its counts for the limits.
func (t *task) retry(now time.Time) error {
	switch {
	case t.held(now):
	case t.State != Failed:
		return fmt.Errorf("%w: it is %s", ErrState, t.State)
	case t.decided || t.Agent == "":
		t.State = Completed
	default:
		t.State = Pending
	}
	t.restart()
	return nil
}

// restart resets the counts for the limits, and releases the task.
func (t *task) restart() {
	t.claims, t.Tries, t.Reason, t.report = 0, 0, "", nil
	t.Ended, t.Ready, t.Behind, t.followed = time.Time{}, time.Time{}, "", true
}

// ask deletes the decision on a done or failed task, so that it is decided again.
func (t *task) ask(now time.Time) error {
	if !t.ended() {
		return fmt.Errorf("%w: it is %s", ErrState, t.State)
	}
	t.addLog(now, "earlier result", "", EarlierText(t.State, t.Reason, t.result))
	t.result, t.decided = nil, false
	t.askedAttempt, t.askedEpoch = t.Attempt, t.Epoch
	t.Asks++
	t.State = Completed
	if t.Agent != "" {
		t.State, t.Completed = Pending, time.Time{}
	}
	t.restart()
	return nil
}
