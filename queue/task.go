package queue

import "time"

// The bounds of a task. What is larger is refused.
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
	Agent string // canonical address of the agent; empty: nobody is asked, and the task begins completed
	Repo  string // "owner/name"
	Issue int    // number, from 1; 0: it is about no issue, and carried out beside others
	// Message is the task as the agent gets it: a JSON object.
	Message []byte
	// Origin is what the harness keeps for itself, such as the name of the event. No agent
	// is told of it. Nil: nothing.
	Origin []byte
	// Dedup is a key that only one task ever has, as long as that one is kept, such as the
	// id of a webhook's delivery; empty: none. The key of a task that was
	// coalesced is one more of the task that stands for it.
	Dedup    string
	Priority int // the higher one is handed out first; usually 0
	// Coalesce says that a task of this agent and issue which is still pending, was never
	// claimed, and was enqueued so too, takes over Message (as Renamed has it), Origin and
	// a higher priority, and that no task is added then. It keeps its place, and how long it is held back. Without
	// an issue there is nothing to join.
	//
	// Where there is none to join, but other tasks of this agent and issue that have not
	// ended, whether they coalesce or not, the task is added and held back behind them: until
	// each of those has ended that was there when it came. Of several that are held back so
	// the oldest one goes first, and the others wait for its end. Who comes later
	// without Coalesce holds it up no longer. A task that is pending again holds up those
	// behind it as before.
	Coalesce bool
	// Join returns what that task takes over in place of Message (as Renamed has it) and
	// Origin, from what both hold; ok is false when it is not to be joined after all: then
	// the task is added. The bounds of Task.Check hold. It may be called more than once and
	// in the midst of a write, so it does nothing but that. Nil: the new one replaces the old one.
	Join func(old, new Told) (joined Told, ok bool)
	// HourlyLimit is how many tasks of the repository may become ready within an hour; one
	// beyond is held back until it is its turn. 0: any number. Only tasks with a limit
	// count, those too that ended meanwhile.
	HourlyLimit int
	// Wait is how long the task is held back; 0: not at all.
	Wait time.Duration
}

// A Told is what a task tells of.
type Told struct {
	Message []byte
	Origin  []byte
}

// How says what Enqueue did.
type How string

// What Enqueue does.
const (
	Added     How = "added"     // there is a new task
	Duplicate How = "duplicate" // there was one of that id, or of that Dedup
	Coalesced How = "coalesced" // a pending task tells of it now
)

// An Enqueued is what became of a task that was enqueued.
type Enqueued struct {
	How   How
	ID    string    // of the task that stands for it
	Ready time.Time // when it may be handed out first; the zero time: at once, or when Behind has ended
	// Behind is the task whose end it waits for, or one of them; empty: it waits for none.
	Behind string
}

// ClaimOptions say how a task is claimed.
type ClaimOptions struct {
	By    string        // name of the credential; empty: there are none
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
	// Waited says that it was held back behind another task of its issue: what its message
	// tells of that issue may be old.
	Waited bool
}

// A Ref says which claim of which task is meant.
type Ref struct {
	ID      string
	Attempt int    // 0: the caller does not say
	By      string // name of the credential; empty: it is not looked at
}

// A Receipt says what became of a decision that was sent in.
type Receipt struct {
	Accepted bool
	// Reason says why it was not accepted, for a log; empty if it was.
	Reason string
}

// DrainOptions say how decisions are leased.
type DrainOptions struct {
	Owner string        // who carries them out, for logs
	Lease time.Duration // must be more than 0, and longer than any single call takes
	Limit int           // at most so many; must be more than 0
}

// A Hold is the lease of a decision.
type Hold struct {
	ID    string
	Epoch int64 // counts the leases of the decision, from 1
}

// A Decision is one that is to be carried out.
type Decision struct {
	Hold
	Until     time.Time // when the lease runs out
	Agent     string
	Repo      string
	Issue     int
	Message   []byte
	Origin    []byte
	Result    []byte // the decision as JSON; nil: nobody was asked
	Tries     int    // leases that ended without a result, this one not counted, and those not that Postponement.Free was said of
	Enqueued  time.Time
	Completed time.Time
}

// A Postponement says why and how long a decision waits.
type Postponement struct {
	Wait   time.Duration // from now on
	Reason string        // for people
	Free   bool          // it does not count as a try: nothing could be done, or nothing was tried
}

// Limits say how often a task is handed out before it is given up. 0: any number.
type Limits struct {
	Claims int // to agents
	Drains int // to be carried out
}

// A Swept is a task that RequeueStale took hold of.
type Swept struct {
	ID    string
	Agent string
	State State // in which it is now
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

// A Backlog is what waits for one agent.
type Backlog struct {
	Agent   string
	Pending int // that may be handed out now; MaxBacklog stands for more too
	Claimed int
	IDs     []string
}

// A Filter says which tasks are listed. The zero value of a field lets all through.
type Filter struct {
	State State
	Agent string
	Repo  string
	Issue int
	// Before goes on below a task: its Info.Seq; 0: from the newest one.
	Before int64
	Limit  int // 0: 100; at most 1000
}

// An Info is what is known of a task, but for its texts. Times that have not come are
// zero.
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
	Owner     string // credential of the last claim, or who carries it out
	Attempt   int    // claims so far
	Tries     int    // of carrying it out, that failed
	Priority  int
	Reason    string // why it failed, or was held back or given back last
	Enqueued  time.Time
	Ready     time.Time // of no meaning for a task that is not held back
	Claimed   time.Time // the last time
	Until     time.Time // when the claim or the lease runs out
	Completed time.Time
	Ended     time.Time // done or failed
}

// Details are all that is kept of a task.
type Details struct {
	Info
	Message []byte
	Origin  []byte
	Result  []byte // nil: none
	Report  []byte // of MarkDone or Fail; nil: none
	Log     []Entry
}

// An Entry is a line of a task's log: what the times of Info do not tell.
type Entry struct {
	At   time.Time
	What string // such as "requeued", "late decision", "retried"
	Who  string // credential or owner; may be empty
	Text string // for people
}

// A Change says that tasks may have become ready.
type Change struct {
	Agent string // whose tasks are pending; empty: a decision waits to be carried out
}
