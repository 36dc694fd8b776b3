package contract

// The exit codes of a document that is blocked or failed, or that a person must approve.
const (
	exitBlocked = 10
	exitFailed  = 11
	exitHuman   = 12
)

// exitCode returns the exit code for a document's status, and for whether a person must approve it.
func exitCode(status string, human bool) int {
	switch {
	case status == Blocked:
		return exitBlocked
	case status == Failed:
		return exitFailed
	case human:
		return exitHuman
	}
	return 0
}

// ExitCode returns the exit code for --exit-code.
func (d Status) ExitCode() int { return exitCode("", d.RequiresHumanApproval) }

// ExitCode returns the exit code for --exit-code.
func (d Recommendation) ExitCode() int { return exitCode("", d.RequiresHumanApproval) }

// ExitCode returns the exit code for --exit-code.
func (d Plan) ExitCode() int { return exitCode("", d.RequiresHumanApproval) }

// ExitCode returns the exit code for --exit-code.
func (d Discovery) ExitCode() int { return exitCode(d.Status, false) }

// ExitCode returns the exit code for --exit-code.
func (d BlockedLookup) ExitCode() int { return exitCode(d.Status, false) }

// ExitCode returns the exit code for --exit-code.
func (d Validation) ExitCode() int { return exitCode(d.Status, d.RequiresHumanApproval) }

// ExitCode returns the exit code for --exit-code.
func (d PullRequest) ExitCode() int { return exitCode(d.Status, d.RequiresHumanApproval) }
