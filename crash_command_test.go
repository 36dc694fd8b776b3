//go:build unix && !race

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const crashComment = `{"action": "created", "issue": %s,
	"comment": {"id": %d, "body": "/foreman undo\n/foreman why", "user": {"login": "mona", "type": "User"}},
	"repository": {"full_name": "octo-org/widgets", "default_branch": "main"}, "sender": {"login": "mona", "type": "User"}}`

// crashCommand kills the run that carries out commands. It does so at every call in turn,
// before and after the effect of the call, and checks that everything was undone and answered
// exactly once.
func crashCommand(t *testing.T, program string) {
	for _, memory := range []string{"file", "off", "artifact"} {
		t.Run(memory, func(t *testing.T) {
			t.Parallel()
			kills := 0
			for nth, killed := 1, true; killed; nth++ {
				for _, after := range []bool{false, true} {
					r := newCrashRound(t, program, crashCase{memory: memory})
					r.run(t, 0, nil)
					r.command(t)
					r.gh.Lag(maxLag)
					r.run(t, 1, func() crashPoint { return crashPoint{nth: nth, after: after} })
					killed = r.kills > 0
					kills += r.kills
					r.judgeCommand(t)
					r.close()
				}
			}
			t.Logf("%d kills", kills)
			if kills < 16 {
				t.Errorf("only %d kills: the schedule does not reach every call", kills)
			}
		})
	}
}

// command makes the next run's event a comment with commands.
func (r *crashRound) command(t *testing.T) {
	t.Helper()
	id := r.gh.Repo(crashRepo).AddUser("mona").AddComment(7, "mona", "/foreman undo\n/foreman why")
	r.event, r.id = "issue_comment", 100
	payload := fmt.Sprintf(crashComment, r.issue(t), id)
	if err := os.WriteFile(filepath.Join(r.dir, "event.json"), []byte(payload), 0o644); err != nil {
		t.Fatal(err)
	}
	r.gh.ResetCalls()
}

// judgeCommand checks the issue after the commands.
func (r *crashRound) judgeCommand(t *testing.T) {
	t.Helper()
	r.checkRemoval(t)
	i := r.gh.Issue(crashRepo, 7)
	answers := func(by string) int {
		n := 0
		for _, c := range i.Comments {
			if strings.Contains(c.Body, " by="+by+" ") {
				n++
			}
		}
		return n
	}
	if i.State != "open" || !slices.Equal(slices.Sorted(slices.Values(i.Labels)), []string{"old", "older"}) || answers("undo") != 1 || answers("why") != 1 || r.repeated() > 0 {
		t.Errorf("%s, killed at %v: the issue is %s with %v, %d and %d answers, %d writes again\n%s", r.crashCase, r.at,
			i.State, i.Labels, answers("undo"), answers("why"), r.repeated(), strings.Join(r.gh.Log(), "\n"))
	}
}
