package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
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

// artifactCommand keeps artifacts of the repository. The first use makes $GITHUB_API_URL serve them beside the fake GitHub.
func artifactCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: artifact add NAME FILE [branch=B] [fork] | deny PERMISSION | list")
	}
	service, ok := ts.Value("artifacts").(*artifactService)
	if !ok {
		ts.Fatalf("the script has no artifacts")
	}
	if service.Server == nil {
		service.start(ts)
	}
	switch verb, args := args[0], args[1:]; verb {
	case "add":
		a := resultstest.Artifact{Name: args[0], Zip: zipped(ts, ts.ReadFile(args[1]))}
		for _, word := range args[2:] {
			if branch, ok := strings.CutPrefix(word, "branch="); ok {
				a.HeadBranch = branch
			} else {
				a.HeadRepositoryID = 99 // a fork
			}
		}
		service.Add(a)
	case "deny":
		service.Deny(resultstest.Denial(strings.Join(args, " ")), true)
	case "list":
		for _, a := range service.Artifacts() {
			fmt.Fprintln(ts.Stdout(), a.Name)
		}
		fmt.Fprintf(ts.Stdout(), "%d in all\n", len(service.Artifacts()))
	default:
		ts.Fatalf("artifact: unknown verb %s", verb)
	}
}

// An artifactService keeps the artifacts of one script. It is not started before the script uses it.
type artifactService struct{ *resultstest.Server }

func (s *artifactService) start(ts *testscript.TestScript) {
	gh := github(ts)
	req, err := http.NewRequest(http.MethodGet, gh.URL+"/repos/"+scriptRepo, nil)
	ts.Check(err)
	req.Header.Set("Authorization", "Bearer t0ken-of-the-step")
	req.Header.Set("User-Agent", "script")
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	var about struct{ ID int64 }
	ts.Check(json.NewDecoder(res.Body).Decode(&about))
	gh.ResetCalls()
	s.Server, err = resultstest.Start(resultstest.Config{Repo: scriptRepo, RepositoryID: about.ID, Now: time.Now})
	ts.Check(err)
	front := s.Front(gh)
	ts.Defer(func() {
		front.Close()
		s.Close()
		for _, p := range s.Problems() {
			ts.Fatalf("%s", p)
		}
	})
	ts.Setenv("GITHUB_API_URL", front.URL)
}

// zipped returns the zip of a record.
func zipped(ts *testscript.TestScript, text string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("memory.json")
	ts.Check(err)
	_, err = w.Write([]byte(text))
	ts.Check(err)
	ts.Check(z.Close())
	return b.Bytes()
}
