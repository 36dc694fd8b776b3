package script

// macro returns the lines that a line stands for; empty: it is not a macro. $1, $2 and $3 are the
// line's words.
func macro(name string) string {
	return map[string]string{
		// No task can be claimed, by either handle.
		"idle": `claim -> empty
B claim -> empty`,
		// Claims and leases run out, and their tasks are requeued.
		"expire": `advance 5m1s
requeue`,
		// The only decision is carried out.
		"finish": `drain -> $1
done $1`,
		// A lease, of an epoch or the last one, is lost.
		"fenced": `renew $1 $2 -> lost
done $1 $2 report=fenced -> lost
fail $1 $2 reason=fenced report=fenced -> lost
release $1 $2 -> lost`,
		// A task is held back behind another one of its issue.
		"behind": `show $1 -> pending held=true behind=$2 reason=waits ready=none`,
		// A task is held back no longer; it is claimed.
		"released": `show $1 -> pending held=false behind=none reason=none
claim -> $1 waited=true`,
		// A task was retried by a person.
		"retried": `show $1 -> $2 held=false ended=none log=* log.-1.who=person`,
	}[name]
}
