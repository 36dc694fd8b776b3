package agentcheck

// The two protocols of agents: the agent claims tasks from a queue, or it receives whole tasks in
// requests.
const (
	Queue = "queue"
	Sync  = "sync"
)

// A Result is the result of a check.
type Result string

// The results.
const (
	OK      Result = "ok"
	Failed  Result = "failed"
	Skipped Result = "skipped" // could not be checked
)

// A Check is one rule of the protocol that was checked.
type Check struct {
	ID   string `json:"id"`   // stable, such as "nudge-answer"
	Wire string `json:"wire"` // Queue or Sync; empty: both
	// Must is set when a harness may lose tasks or time because of the problem. Otherwise the
	// problem is advice.
	Must   bool   `json:"must"`
	Want   string `json:"want"` // the expected behaviour
	Result Result `json:"result"`
	Got    string `json:"got"` // the agent's behaviour, or why the check was skipped; may be empty
}

// A Report is the result of Run.
type Report struct {
	Version int      `json:"version"` // version of this format: 1
	Agent   string   `json:"agent"`   // canonical address
	Wires   []string `json:"wires"`   // the checked forms of the protocol
	Checks  []Check  `json:"checks"`  // in the order of the run
}

// OK reports whether all checks passed. Failed checks that are only advice do not count.
func (r Report) OK() bool {
	for _, c := range r.Checks {
		if c.Must && c.Result == Failed {
			return false
		}
	}
	return len(r.Checks) > 0
}
