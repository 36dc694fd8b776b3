package main

import (
	"context"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/testkit/freeport"
)

// scriptIssue parses the arguments of "gh issue".
func scriptIssue(ts *testscript.TestScript, args []string) githubtest.Issue {
	i := githubtest.Issue{Number: number(ts, args[0]), Author: "Codertocat"}
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "label":
			i.Labels = append(i.Labels, value)
		case "state":
			i.State = value
		case "pr":
			i.PullRequest, i.Files = true, strings.Fields(strings.ReplaceAll(value, ",", " "))
		case "draft":
			i.Draft = true
		case "reviewer":
			i.Reviewers = append(i.Reviewers, value)
		case "author":
			i.Author = value
		case "title":
			i.Title = value
		case "age":
			age, err := time.ParseDuration(value)
			ts.Check(err)
			i.CreatedAt = time.Now().Add(-age)
		default:
			ts.Fatalf("gh issue: unknown word %s", a)
		}
	}
	return i
}

// portCommand sets a variable to a free address of this machine.
func portCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: port NAME")
	}
	at, err := freeport.Find(context.Background())
	ts.Check(err)
	ts.Setenv(args[0], at.String())
}
