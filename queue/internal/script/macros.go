package script

// macro returns the lines that a macro stands for, or "" if there is no such macro. The words of
// the line replace $1, $2 and $3.
func macro(name string) string {
	return map[string]string{
		// No task can be claimed, by either handle.
		"idle": `claim -> empty
B claim -> empty`,
		// Claims and leases expire, and their tasks are requeued.
		"expire": `advance 5m1s
requeue`,
		// The only decision is leased and carried out.
		"finish": `drain -> $1
done $1`,
		// A lease is lost: the last one of the task, or that of an epoch.
		"fenced": `renew $1 $2 -> lost
done $1 $2 report=fenced -> lost
fail $1 $2 reason=fenced report=fenced -> lost
release $1 $2 -> lost`,
		// A task is held back behind another task of its issue.
		"behind": `show $1 -> pending held=true behind=$2 reason=waits ready=none`,
		// A task is no longer held back, and it is claimed.
		"released": `show $1 -> pending held=false behind=none reason=none
claim -> $1 waited=true`,
		// A task was retried by a person.
		"retried": `show $1 -> $2 held=false ended=none log=* log.-1.who=person`,
	}[name]
}
