package hosttest

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/triage"
)

// start is the time at which issue 7 was created.
var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// small returns a repository with the issues 7 and 11 and the pull request 8.
func small() Repo {
	return Repo{
		Owner: owner, Name: name, Labels: []string{"bug", "Kind/Feature", "what? 100%"}, Milestones: []string{"v1", "V2"},
		Types: []string{"Bug", "Task"}, Teams: []string{"docs"},
		Permissions: map[string]string{"alice": "admin", "bob": "write", "carol": "read", "mallory": "none", "github-actions[bot]": "write"},
		Accounts:    map[string]triage.Account{"alice": {ID: 17, Type: "User", CreatedAt: start}},
		Issues: []Issue{
			{
				Issue:     triage.Issue{Number: 7, Title: "It crashes", Body: "at <start>\r\n\u2028", Author: "alice", CreatedAt: start},
				Thread:    []triage.Comment{{Author: "alice", Body: "first"}, {Author: "carol", Body: "second"}, {Author: "alice", Body: "third"}},
				Reactions: []Reaction{{"alice", "-1"}, {"bob", "-1"}, {"carol", "+1"}},
			},
			{
				Issue: triage.Issue{Number: 8, Title: "A fix", Author: "carol", CreatedAt: start.Add(time.Hour)},
				Pull: &Pull{
					PullRequest: triage.PullRequest{Head: "fix", Base: "main"},
					Files:       []triage.ChangedFile{{Path: "a.go"}, {Path: "new.go", Before: "old.go"}},
					Messages:    []string{"first", "second\n\nbody"},
					Reviewed:    []triage.Review{{Author: "bob", Association: "MEMBER", State: "CHANGES_REQUESTED"}, {Author: "bob", Association: "MEMBER", State: "APPROVED"}},
				},
			},
			{
				Issue:  triage.Issue{Number: 11, Title: "The original", Author: "bob", CreatedAt: start.Add(2 * time.Hour)},
				Thread: []triage.Comment{{Author: "bob", Body: "elsewhere"}},
			},
		},
	}
}

// long returns a repository whose issue 7 has n comments: "1", "2" and so on.
func long(n int) func() Repo {
	return func() Repo {
		i := Issue{Issue: triage.Issue{Number: 7, Author: "alice", CreatedAt: start}}
		for k := range n {
			i.Thread = append(i.Thread, triage.Comment{Author: "alice", Body: fmt.Sprint(k + 1)})
		}
		return Repo{Owner: owner, Name: name, Issues: []Issue{i}}
	}
}

// many returns a repository with 230 labels, and the open issues 1 to 130, each 10th a pull request.
// The issues 1 to 120 are by alice. Two issues are closed: 131, by alice, and the merged pull request
// 132, by bob. An issue with a lower number is younger.
func many() Repo {
	r := Repo{Owner: owner, Name: name}
	for k := range 230 {
		r.Labels = append(r.Labels, fmt.Sprintf("label %03d", k))
	}
	for n := 1; n <= 132; n++ {
		i := Issue{Issue: triage.Issue{Number: n, Author: "alice", Title: "lamp", CreatedAt: start.Add(time.Duration(200-n) * time.Minute)}}
		if n > 120 && n != 131 {
			i.Author = "bob"
		}
		if n%10 == 0 || n == 132 {
			i.Pull = &Pull{PullRequest: triage.PullRequest{Head: fmt.Sprint("h", n), Base: "main", Merged: n == 132}}
		}
		if n > 130 {
			i.State = "closed"
		}
		r.Issues = append(r.Issues, i)
	}
	return r
}
