package queue

import "time"

// The bounds of a task. Larger values are refused.
const (
	MaxMessage  = 32 << 20 // bytes of a message, an origin, a decision or a report
	MaxText     = 2000     // bytes of an id, an address, a name, a reason; CleanText cuts longer reasons and names of people
	MaxLogs     = 200      // log entries that are kept of a task, the first and the newest ones
	MaxBacklog  = 100      // up to which the pending tasks of an agent are counted in a Backlog
	MaxPriority = 1000     // and at least -MaxPriority
)

// A Task is a task as it is enqueued.
type Task struct {
	ID    string // as a rule a UUID in lower case; must be set
	Agent string // canonical address of the agent; empty: no agent is asked, and the task begins completed
	Repo  string // "owner/name"
	Issue int    // number, from 1; 0: it is about no issue, and may be carried out concurrently
	// Message is the task as the agent gets it: a JSON object.
	Message []byte
	// Origin is data of the harness, such as the name of the event. It is not sent to agents.
	// Nil: none.
	Origin []byte
	// Dedup is a unique key among the stored tasks, such as the id of a webhook's delivery;
	// empty: none. When a task is joined to another one, that one has the keys of both.
	Dedup    string
	Priority int // the higher one is handed out first; usually 0
	// Coalesce joins the task to another one of its agent and issue that is pending, was never
	// claimed, and has Coalesce too. That one takes over Message (see Renamed), Origin and a
	// higher priority, keeps its place and its wait, and no task is added. A task without an
	// issue is never joined.
	//
	// If there is none to join, but there are other tasks of this agent and issue that have
	// not ended, with Coalesce or not, the task is added and held back until all of them have
	// ended. Of several tasks that are held back so, the oldest goes first, and the others
	// wait for its end. Later tasks without Coalesce do not hold it up. A task that is pending
	// again holds up those behind it as before.
	Coalesce bool
	// Join merges the texts of both tasks for Coalesce; ok is false if they must not be
	// joined: then the task is added. The bounds of Task.Check apply. It may be called more
	// than once, during a transaction, so it must be a pure function. Nil: the new texts
	// replace the old ones.
	Join func(old, new Body) (joined Body, ok bool)
	// HourlyLimit bounds the tasks of the repository that become ready within an hour; those
	// beyond it are held back. 0: any number. Only tasks with a limit count, also ended ones.
	HourlyLimit int
	// Wait is the time for which the task is held back; 0: none.
	Wait time.Duration
}

// A Body is the texts of a task.
type Body struct {
	Message []byte
	Origin  []byte
}

// An Outcome is the kind of result that Enqueue had.
type Outcome string

// The outcomes of Enqueue.
const (
	Added     Outcome = "added"     // there is a new task
	Duplicate Outcome = "duplicate" // there was one of that id, or of that Dedup
	Coalesced Outcome = "coalesced" // it was joined to a pending task
)

// An Enqueued is the result of Enqueue.
type Enqueued struct {
	Outcome Outcome
	ID      string    // of the new task, the duplicate, or the task that it was joined to
	Ready   time.Time // the time until which it is held back; the zero time: none, or until Behind has ended
	// Behind is the task whose end it waits for, or one of several; empty: none.
	Behind string
}

// DefaultClaim is how long an agent's claim of a task lasts without a heartbeat, unless the
// configuration of the server has another time. A claim is not a [Lease], which a server has
// of a decision: see [DefaultLease].
const DefaultClaim = 300 * time.Second

// DefaultLease is how long a server's lease of a decision lasts without a renewal, unless its
// configuration has another time. Servers renew their leases three times as often, also during
// long requests, so it only has to outlast a short interruption.
const DefaultLease = 8 * time.Second

// ClaimOptions are the options of ClaimNext.
type ClaimOptions struct {
	By    string        // name of the credential; empty: credentials are not used
	Lease time.Duration // how long the claim lasts without a heartbeat; must be more than 0
}

// A Claim is a task that was handed out.
type Claim struct {
	ID       string
	Message  []byte // as it was enqueued
	Origin   []byte
	Attempt  int       // counts the claims of the task, from 1
	Until    time.Time // when the claim runs out
	Enqueued time.Time
	// Waited is true if it was held back behind another task of its issue: the state of the
	// issue in its message may be old.
	Waited bool
}

// A Ref identifies a claim of a task.
type Ref struct {
	ID      string
	Attempt int    // 0: any
	By      string // name of the credential; empty: any
}

// A Receipt is the answer to a decision.
type Receipt struct {
	Accepted bool
	// Reason is why it was rejected, for a log; empty if it was accepted.
	Reason string
}

// DrainOptions are the options of LeaseDecisions.
type DrainOptions struct {
	Owner string        // the process that carries them out, for logs
	Lease time.Duration // how long a lease lasts without a renewal; must be more than 0
	Limit int           // the most decisions; must be more than 0
}

// A Lease is the time-limited right to carry a decision out.
type Lease struct {
	ID    string
	Epoch int64 // counts the leases of the decision, from 1
}

// A Decision is a leased decision.
type Decision struct {
	Lease
	Until   time.Time // when the lease runs out
	Agent   string
	Repo    string
	Issue   int
	Message []byte
	Origin  []byte
	Result  []byte // the decision as JSON; nil: no agent was asked
	Tries   int    // earlier leases that ended without a result, except those with Postponement.Free
	// Asks counts the calls of AskAgain. The decisions before and after a call are different
	// ones: the writes of the first do not count as writes of the second.
	Asks int
	// Leases counts the leases of this decision, from 1. Epoch counts also those of the decisions
	// before it.
	Leases    int64
	Enqueued  time.Time
	Completed time.Time
}

// A Postponement is the reason and the length of a wait.
type Postponement struct {
	Wait   time.Duration // from now on
	Reason string        // for people
	Free   bool          // it does not count as a try: nothing could be done, or nothing was tried
}

// Limits bound how often a task is handed out before it fails. 0: any number.
type Limits struct {
	Claims int // to agents
	Drains int // to be carried out
}

// A Requeued is a task that RequeueStale changed: one that is ready again, or failed.
type Requeued struct {
	ID    string
	Agent string
	State State // the new one
}

// A LeaseCheck is the result of RequeueLeases.
type LeaseCheck struct {
	Requeued []Requeued // also with an error
	// Others are the leases of other processes that have not expired, at most [MaxLeases].
	Others []ActiveLease
}

// MaxLeases bounds the leases in a LeaseCheck.
const MaxLeases = 1000

// An ActiveLease is a lease that a process has.
type ActiveLease struct {
	Lease
	Owner string        // as in DrainOptions
	Left  time.Duration // until it ends without a renewal
}

// Stats count tasks.
type Stats struct {
	Agents   []AgentStats // with tasks that are pending or claimed, sorted
	States   map[State]int
	Held     int       // of the pending and completed ones: held back until a time, or behind another one
	Draining int       // of the completed ones: being carried out
	Oldest   time.Time // when the oldest pending task was enqueued; zero: there is none
}

// AgentStats count the tasks of one agent.
type AgentStats struct {
	Agent                  string
	Pending, Held, Claimed int // Held counts in Pending too
}

// A Backlog are the tasks that wait for one agent.
type Backlog struct {
	Agent   string
	Pending int // not held back; MaxBacklog: at least so many
	Claimed int
	IDs     []string
}

// A Filter selects tasks. The zero value of a field matches all.
type Filter struct {
	State State
	Agent string
	Repo  string
	Issue int
	// Before is the Info.Seq of the last task of the page before; 0: from the newest one.
	Before int64
	Limit  int // 0: 100; at most 1000
}

// An Info is the state of a task, without its texts. Times that have not come are zero.
type Info struct {
	Seq       int64 // grows with each task
	ID        string
	Agent     string
	Repo      string
	Issue     int
	State     State
	Held      bool   // held back until Ready, or behind another task
	Behind    string // the task that it is held back behind, or one of them; empty: none
	Draining  bool   // being carried out by Owner
	Owner     string // credential of the last claim, or of the process that carries it out
	Attempt   int    // claims so far
	Tries     int    // failed attempts to carry it out
	Asks      int    // how often it was asked again
	Priority  int
	Reason    string // why it failed, or was held back or released last
	Enqueued  time.Time
	Ready     time.Time // only for a task that is held back
	Claimed   time.Time // the last time
	Until     time.Time // when the claim or the lease runs out
	Completed time.Time
	Ended     time.Time // done or failed
}

// Details are everything stored about a task.
type Details struct {
	Info
	Message []byte
	Origin  []byte
	Result  []byte // nil: none
	Report  []byte // of MarkDone or Fail; nil: none
	Log     []Entry
}

// An Entry is an entry of a task's log, for events that have no time in Info.
type Entry struct {
	At   time.Time
	What string // such as "requeued", "late decision", "retried"
	Who  string // credential or owner; may be empty
	Text string // for people
}

// A Change is a hint that tasks may have become ready.
type Change struct {
	Agent string // the agent of pending tasks; empty: a decision is ready to be carried out
}
