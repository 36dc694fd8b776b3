package github_test

import (
	"testing"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/hosttest"
)

// TestHost runs the suite of hosts on the client, over the fake GitHub.
func TestHost(t *testing.T) {
	t.Parallel()
	testHost(t, githubtest.AutomationOff)
}

// TestHostWithIntents runs the suite on repositories that show intents. At the level full_control,
// GitHub holds every change with an intent.
func TestHostWithIntents(t *testing.T) {
	t.Parallel()
	for _, level := range []githubtest.Automation{githubtest.FullAutomation, githubtest.Cautious, githubtest.FullControl} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			testHost(t, level)
		})
	}
}

func testHost(t *testing.T, level githubtest.Automation) {
	t.Helper()
	hosttest.Test(t, func(t *testing.T, r hosttest.Repo) runner.Host {
		t.Helper()
		if large(r) && level != githubtest.AutomationOff {
			t.Skip("lists are the same at each level")
		}
		s := githubtest.New(t, githubtest.Config{Token: token, SkipValidation: large(r)})
		furnishAs(s, r)
		if level != githubtest.AutomationOff {
			s.Repo(r.Owner + "/" + r.Name).SetAutomation(level)
		}
		if r.LoseAnswers {
			s.Fault(githubtest.Fault{Method: "POST", Path: "/repos/*/*/issues/*/comments", CutAfter: true, Times: -1})
		}
		c, _ := client(t, s.URL)
		return runner.HostOf(c)
	})
}

// large reports whether the check of each response against GitHub's description takes long.
func large(r hosttest.Repo) bool {
	for _, i := range r.Issues {
		if len(i.Thread) > 100 || i.Pull != nil && len(i.Pull.Files) > 100 {
			return true
		}
	}
	return len(r.Issues) > 100
}

// furnishAs creates a repository of the suite.
func furnishAs(s *githubtest.Server, r hosttest.Repo) {
	repo := s.Repo(r.Owner + "/" + r.Name).AddLabel(r.Labels...).AddMilestone(r.Milestones...)
	s.Describe(r.Owner+"/"+r.Name, githubtest.About{Teams: r.Teams})
	if r.Intents {
		repo.SetAutomation(githubtest.FullAutomation)
	}
	for login, permission := range r.Permissions {
		repo.SetPermission(login, permission)
		if permission == "admin" || permission == "write" {
			repo.AddUser(login)
		}
	}
	for login, a := range r.Accounts {
		s.SetAccount(githubtest.Account{Login: login, ID: a.ID, CreatedAt: a.CreatedAt})
	}
	for _, i := range r.Issues {
		in := githubtest.Issue{Number: i.Number, Title: i.Title, Body: i.Body, State: i.State, Author: i.Author, CreatedAt: i.CreatedAt}
		for _, c := range i.Thread {
			in.Comments = append(in.Comments, githubtest.Comment{Author: c.Author, Body: c.Body})
		}
		for _, x := range i.Reactions {
			in.Reactions = append(in.Reactions, githubtest.Reaction{Author: x.Login, Content: x.Content})
		}
		if p := i.Pull; p != nil {
			in.PullRequest, in.Head, in.Base, in.Merged, in.Commits, in.Moved = true, p.Head, p.Base, p.Merged, p.Messages, map[string]string{}
			for _, f := range p.Files {
				in.Files = append(in.Files, f.Path)
				if f.Before != "" {
					in.Moved[f.Path] = f.Before
				}
			}
			for _, v := range p.Reviewed {
				in.Reviews = append(in.Reviews, githubtest.Review{Author: v.Author, Association: v.Association, State: v.State})
			}
		}
		repo.AddIssue(in)
	}
}
