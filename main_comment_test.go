package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// commentCommand adds a comment to issue 1, and makes it the event of a new workflow run, with the
// current issue. Its arguments are LOGIN TEXT…, where \n is a line break. A login with the suffix
// "[bot]" belongs to an app.
func commentCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: comment LOGIN TEXT…")
	}
	who, text := args[0], strings.ReplaceAll(strings.Join(args[1:], " "), `\n`, "\n")
	gh := github(ts)
	id := gh.Repo(scriptRepo).AddComment(1, who, text)
	i := gh.Issue(scriptRepo, 1)
	kind := "User"
	if strings.HasSuffix(who, "[bot]") {
		kind = "Bot"
	}
	type object = map[string]any
	named := func(list []string, key string) []object {
		out := []object{}
		for _, s := range list {
			out = append(out, object{key: s})
		}
		return out
	}
	user := object{"login": who, "type": kind}
	payload, err := json.Marshal(object{
		"action": "created",
		"issue": object{
			"number": 1, "title": i.Title, "body": i.Body, "state": i.State, "user": object{"login": i.Author, "type": "User"},
			"labels": named(i.Labels, "name"), "assignees": named(i.Assignees, "login"), "comments": len(i.Comments),
			"created_at": i.CreatedAt.Format(time.RFC3339), "updated_at": time.Now().UTC().Format(time.RFC3339),
			"html_url": "https://github.com/" + scriptRepo + "/issues/1",
		},
		"comment":    object{"id": id, "body": text, "user": user, "author_association": "NONE"},
		"repository": object{"full_name": scriptRepo, "default_branch": "main"},
		"sender":     user,
	})
	ts.Check(err)
	path := ts.MkAbs(fmt.Sprintf("runner/comment-%d.json", id))
	ts.Check(os.WriteFile(path, payload, 0o644))
	run := number(ts, ts.Getenv("GITHUB_RUN_ID"))
	ts.Setenv("GITHUB_RUN_ID", strconv.Itoa(run+1))
	ts.Setenv("GITHUB_EVENT_NAME", "issue_comment")
	ts.Setenv("GITHUB_EVENT_PATH", path)
}
