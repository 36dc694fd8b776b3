package queue

import "time"

// The limits of a task. Larger values are refused, except that CleanText shortens reasons and names
// of people.
const (
	MaxMessage  = 32 << 20 // bytes of a message, an origin, a decision or a report
	MaxText     = 2000     // bytes of an id, an address, a name or a reason
	MaxLogs     = 200      // entries in the log of a task; the first and the newest ones are kept
	MaxBacklog  = 100      // a Backlog counts the pending tasks of an agent up to this number
	maxPriority = 1000     // the minimum is -maxPriority
	// MaxTitle is the number of bytes of a title that can be found; the rest of a longer one is ignored.
	MaxTitle = 512
	// MaxExamined is how many tasks a call of Search or Count compares with a filter.
	MaxExamined = 100_000
	// MaxWords is the number of words in Filter.Title that are searched; further words are ignored.
	MaxWords = 20
)

// A Task is a new task for Enqueue.
type Task struct {
	ID string // usually a UUID in lower case; required
	// Agent is the canonical address of the agent. Empty: no agent is asked, and the task starts as
	// completed.
	Agent string
	Repo  string // "owner/name"
	Issue int    // number of the issue, from 1; 0: the task concerns no issue, and may be carried out concurrently with others
	// Message is the task in the form that the agent receives: a JSON object.
	Message []byte
	// Origin is data for the harness, an [Origin] in JSON. It is not sent to agents. Nil means none.
	// The queue stores any bytes.
	Origin []byte
	// Dedup is a key that only one stored task may have, such as the id of a webhook's delivery;
	// empty means none. If a task is joined to another one, that task has the keys of both.
	Dedup string
	// Title is the title of the issue, and Delivery the id of the webhook's delivery, by which
	// Filter finds the task; empty means none. Several tasks may have the same. A task that another
	// one is joined to takes over its title. It is found by both deliveries, if the other one has a
	// Dedup.
	Title, Delivery string
	Priority        int // from -1000 to 1000; tasks with a higher priority are handed out first; usually 0
	// Coalesce joins the task to another task of its agent and issue. That task must be pending,
	// must never have been claimed, and must have Coalesce, too. It takes over the new Message (see
	// [Task.Joins]) and Origin and the higher priority, and keeps its place and its wait. A task without
	// an issue is never joined.
	//
	// If there is no such task, but other tasks of the same agent and issue have not ended, the new
	// task is added and held back until all of them have ended. Of several tasks that are held
	// back, the oldest is released first, and the others wait for its end. Later tasks without
	// Coalesce do not delay it. If a task becomes pending again, the tasks behind it keep waiting.
	Coalesce bool
	// Join merges the texts of two tasks for Coalesce. Nil: the new texts replace the old ones. ok
	// is false if the tasks must not be joined; then the new task is added. The limits of
	// Task.Check apply. Join may be called more than once, during a transaction, so it must be a
	// pure function.
	Join func(old, new Body) (joined Body, ok bool)
	// HourlyLimit is the maximum number of tasks of the repository that become ready within an
	// hour; further tasks are held back. 0: no limit. Only tasks with a limit are counted,
	// including those that ended.
	HourlyLimit int
	// Wait is how long the task is held back; 0: not at all.
	Wait time.Duration
}

// A Body has the texts of a task.
type Body struct {
	Message []byte
	Origin  []byte
}

// An Outcome is the kind of an Enqueue result.
type Outcome string

// The outcomes of Enqueue.
const (
	Added     Outcome = "added"     // a new task was added
	Duplicate Outcome = "duplicate" // a task with this id or this Dedup exists
	Coalesced Outcome = "coalesced" // the task was joined to a pending one
)

// An Enqueued is the result of Enqueue.
type Enqueued struct {
	Outcome Outcome
	ID      string    // id of the new task, of the duplicate, or of the task that it was joined to
	Ready   time.Time // the time until which the task is held back; zero: not held back, or held back behind Behind
	// Behind is a task that must end before this one is released. There may be more than one.
	// Empty: none.
	Behind string
}

// DefaultClaim is how long an agent's claim of a task lasts without a heartbeat, unless the
// server's configuration sets another time. A claim is the right to decide on a task. The right to
// carry out a decision is a [Lease].
const DefaultClaim = 300 * time.Second

// DefaultLease is how long a server's lease of a decision lasts without a renewal, unless its
// configuration sets another time. Servers renew a lease every third of this time, even during long
// requests. So the lease only has to outlast a short interruption.
const DefaultLease = 8 * time.Second

// ClaimOptions are the options of ClaimNext.
type ClaimOptions struct {
	By    string        // name of the credential; empty: credentials are not used
	Lease time.Duration // how long the claim lasts without a heartbeat; must be more than 0
	Task  string        // id of the only task that may be handed out; empty: any task of the agent
}

// A Claim is a task that was handed out to an agent.
type Claim struct {
	ID       string
	Message  []byte // as it was enqueued
	Origin   []byte
	Attempt  int       // number of claims of the task so far, from 1
	Until    time.Time // time at which the claim expires
	Enqueued time.Time
	// Waited is true if the task was held back behind another task of its issue. Then the issue in
	// its message may be outdated.
	Waited bool
}

// A Ref identifies a claim of a task.
type Ref struct {
	ID      string
	Attempt int    // 0: any attempt
	By      string // name of the credential; empty: any credential
}

// A Receipt is the response to a decision.
type Receipt struct {
	Accepted bool
	// Reason is why the decision was rejected, for a log; empty if it was accepted.
	Reason string
}

// DrainOptions are the options of LeaseDecisions.
type DrainOptions struct {
	Owner string        // the process that carries the decisions out, for logs
	Lease time.Duration // how long a lease lasts without a renewal; must be more than 0
	Limit int           // the maximum number of decisions; must be more than 0
}

// A Lease is the time-limited right to carry out a decision.
type Lease struct {
	ID    string
	Epoch int64 // number of leases of the task's decisions so far, from 1
}

// A Decision is a leased decision.
type Decision struct {
	Lease
	Until   time.Time // time at which the lease expires
	Agent   string
	Repo    string
	Issue   int
	Message []byte
	Origin  []byte
	Result  []byte // the decision as JSON; nil: no agent was asked
	Tries   int    // earlier leases that ended without a result, not counting those with Postponement.Free
	// Asks counts the calls of AskAgain. Each call starts another decision: writes of an earlier
	// decision do not count as writes of this one.
	Asks int
	// Leases counts the leases of this decision, from 1. Epoch also counts those of earlier
	// decisions.
	Leases    int64
	Enqueued  time.Time
	Completed time.Time
}

// A Postponement is a wait with its reason.
type Postponement struct {
	Wait   time.Duration // from now on
	Reason string        // for people
	Free   bool          // the lease does not count as a try, because nothing could be tried
}

// Limits are the maximum numbers of times that a task is handed out before it fails. 0: no limit.
type Limits struct {
	Claims int // claims by agents
	Drains int // leases to carry out the decision
	// MaxClaim is the longest time of a claim since the task was handed out. Then the claim expires,
	// even if heartbeats extended it further.
	MaxClaim time.Duration
}

// A Requeued is a task that RequeueStale changed: it is ready again, or it failed.
type Requeued struct {
	ID    string
	Agent string
	State State // the new state
}

// A LeaseCheck is the result of RequeueLeases.
type LeaseCheck struct {
	Requeued []Requeued // valid also with an error
	// Others are the leases of other processes that have not expired, at most [MaxLeases].
	Others []ActiveLease
}

// MaxLeases bounds the leases in a LeaseCheck.
const MaxLeases = 1000

// An ActiveLease is a current lease of a process.
type ActiveLease struct {
	Lease
	Owner string        // as in DrainOptions
	Left  time.Duration // time until it expires without a renewal
}

// Stats count tasks.
type Stats struct {
	Agents   []AgentStats // agents with pending or claimed tasks, sorted
	States   map[State]int
	Held     int       // pending and completed tasks that are held back
	Draining int       // completed tasks that are being carried out
	Oldest   time.Time // time at which the oldest pending task was enqueued; zero: there is none
	// OldestClaim is the time of the oldest claim of a claimed task; zero: there is none.
	OldestClaim time.Time
}

// AgentStats count the tasks of one agent.
type AgentStats struct {
	Agent                  string
	Pending, Held, Claimed int // Pending includes Held
}

// A Backlog counts the tasks that wait for one agent.
type Backlog struct {
	Agent   string
	Pending int // tasks that are not held back; MaxBacklog means that there may be more
	Claimed int
	IDs     []string
}

// A Filter selects tasks. The zero value of a field matches all. A text that IsText refuses matches
// none.
type Filter struct {
	State State
	Agent string
	Repo  string // ignoring case
	Issue int
	// ID is the id of a task, or the id of a delivery as in Task.Delivery.
	ID string
	// Title has words, separated by spaces, that all are in the title of the task's issue, in any
	// order and ignoring case. A part of a word matches. Tasks that were enqueued before titles were
	// stored do not match.
	Title string
	// Reason is a part of Info.Reason, ignoring the case of ASCII letters.
	Reason string
	// From and To limit Info.Enqueued: not before From, and before To. They count in milliseconds.
	From, To time.Time
	// Before is the Info.Seq of the last task of the previous page; 0: start at the newest task.
	Before int64
	Limit  int // maximum number of tasks, at most 1000; 0 means 100
	// Examine is the maximum number of tasks that are compared with the filter, at most
	// MaxExamined; 0 means MaxExamined.
	Examine int
}

// A Page is the result of Search.
type Page struct {
	Tasks []Info // the newest first
	// Next is the Filter.Before with which the search continues; 0: no older task can match.
	Next int64
	// Examined is the number of tasks, from the newest on, that the call may compare with the filter,
	// because no index has only the tasks that match. If the page is full, it ended earlier. 0: indexes
	// were enough.
	Examined int
}

// A Tally is the result of Count.
type Tally struct {
	N int // tasks that match
	// Next is the Filter.Before with which the count continues; 0: all tasks were counted.
	Next int64
}

// An Info is the state of a task, without its texts. A time is zero if it has not been reached.
type Info struct {
	Seq       int64 // higher for each new task
	ID        string
	Agent     string
	Repo      string
	Issue     int
	State     State
	Held      bool   // held back until Ready, or behind another task
	Behind    string // a task that it is held back behind; empty: none
	Draining  bool   // being carried out by Owner
	Owner     string // credential of the last claim, or the process that carries the task out
	Attempt   int    // number of claims
	Epoch     int64  // number of leases of the task's decisions
	Tries     int    // failed attempts to carry out the decision
	Asks      int    // number of AskAgain calls
	Priority  int
	Reason    string // why the task failed, or was last held back or released
	Enqueued  time.Time
	Ready     time.Time // set only for a task that is held back
	Claimed   time.Time // time of the last claim
	Until     time.Time // time at which the claim or the lease expires
	Completed time.Time
	Ended     time.Time // time at which the task was done or failed
}

// Details are everything stored about a task.
type Details struct {
	Info
	Message []byte
	Origin  []byte
	Result  []byte // nil: none
	Report  []byte // the report of MarkDone or Fail; nil: none
	Log     []Entry
}

// An Entry is an entry of a task's log. It records an event that has no time in Info.
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
