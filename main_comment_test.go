package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// commentCommand adds a comment to issue 1, and makes it the event of a new workflow run, with the
// current issue. Its arguments are LOGIN TEXT…, where \n is a line break. A login with the suffix
// "[bot]" belongs to an app.
func commentCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: comment LOGIN TEXT…")
	}
	who, text := args[0], strings.ReplaceAll(strings.Join(args[1:], " "), `\n`, "\n")
	id := github(ts).Repo(scriptRepo).AddComment(1, who, text)
	commentEvent(ts, who, githubtest.Comment{ID: id, Author: who, Body: text}, nil)
}

// tickCommand ticks boxes of the newest comment on issue 1 that has some, as a person does, and makes this
// edit the event of another run.
func tickCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: tick LOGIN NUMBER…")
	}
	gh := github(ts)
	for _, c := range slices.Backward(gh.Issue(scriptRepo, 1).Comments) {
		before := c.Body
		for _, number := range args[1:] {
			c.Body = strings.ReplaceAll(c.Body, "- [ ] **"+number+"**", "- [x] **"+number+"**")
		}
		if c.Body != before {
			gh.Repo(scriptRepo).EditComment(c.ID, c.Body)
			commentEvent(ts, args[0], c, map[string]any{"body": map[string]any{"from": before}})
			return
		}
	}
	ts.Fatalf("tick: no comment has the box %s", args[1])
}

// commentEvent makes a comment on issue 1 the event of another run: a new one, or with changes an edited one.
func commentEvent(ts *testscript.TestScript, who string, c githubtest.Comment, changes map[string]any) {
	kindOf := func(login string) string {
		if strings.HasSuffix(login, "[bot]") {
			return "Bot"
		}
		return "User"
	}
	action := "created"
	if changes != nil {
		action = "edited"
	}
	i := github(ts).Issue(scriptRepo, 1)
	type object = map[string]any
	named := func(list []string, key string) []object {
		out := []object{}
		for _, s := range list {
			out = append(out, object{key: s})
		}
		return out
	}
	user := func(login string) object { return object{"login": login, "type": kindOf(login)} }
	payload, err := json.Marshal(object{
		"action": action, "changes": changes,
		"issue": object{
			"number": 1, "title": i.Title, "body": i.Body, "state": i.State, "user": object{"login": i.Author, "type": "User"},
			"labels": named(i.Labels, "name"), "assignees": named(i.Assignees, "login"), "comments": len(i.Comments),
			"created_at": i.CreatedAt.Format(time.RFC3339), "updated_at": time.Now().UTC().Format(time.RFC3339),
			"html_url": "https://github.com/" + scriptRepo + "/issues/1",
		},
		"comment": object{
			"id": c.ID, "body": c.Body, "user": user(c.Author), "author_association": "NONE", "created_at": time.Now().UTC().Format(time.RFC3339Nano),
		},
		"repository": object{"full_name": scriptRepo, "default_branch": "main"},
		"sender":     user(who),
	})
	ts.Check(err)
	run := number(ts, ts.Getenv("GITHUB_RUN_ID"))
	path := ts.MkAbs(fmt.Sprintf("runner/comment-%d-%d.json", c.ID, run+1))
	ts.Check(os.WriteFile(path, payload, 0o644))
	ts.Setenv("GITHUB_RUN_ID", strconv.Itoa(run+1))
	ts.Setenv("GITHUB_EVENT_NAME", "issue_comment")
	ts.Setenv("GITHUB_EVENT_PATH", path)
}
