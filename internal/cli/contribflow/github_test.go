package contribflow_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// A hubFile is the state of the fake GitHub of a script.
type hubFile struct {
	Repos map[string]struct {
		githubtest.About
		PushedDays int // days since the last push
		Files      map[string]string
		Folder     string // whose files the repository also has
		Issues     []struct {
			githubtest.Issue
			Days      int // days since the issue was opened
			BodyBytes int // length of a long body
			Comment   string
		}
	}
}

type hubKey struct{}

// setupHub prepares a fake GitHub for the script. The test fails if the fake reports a problem.
func setupHub(e *testscript.Env) {
	hub := new(*githubtest.Server)
	e.Values[hubKey{}] = hub
	e.Defer(func() {
		if *hub == nil {
			return
		}
		(*hub).Close()
		if problems := (*hub).Problems(); len(problems) > 0 {
			e.T().Fatal("the fake GitHub: " + strings.Join(problems, "\n"))
		}
	})
}

// github is the script command for the fake GitHub:
//
//	github start FILE        start it with the repositories of a JSON file, and set its address
//	github calls             print the calls since the last "github calls", sorted
//	github requests          print the calls with their queries
//	github fault METHOD PATH WORD…   let calls fail; "_" stands for a space
//	github limit N DURATION  allow N calls in the next DURATION
//	github mend              end all faults
func github(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: github start|calls|requests|fault|limit|mend …")
	}
	if args[0] == "start" {
		startHub(ts, args[1])
		return
	}
	hub := *ts.Value(hubKey{}).(**githubtest.Server)
	switch args[0] {
	case "calls", "requests":
		var lines []string
		for _, c := range hub.Calls() {
			line := fmt.Sprintf("%s %s %d", c.Method, c.Path, c.Status)
			if query, err := url.QueryUnescape(c.Query.Encode()); err == nil && args[0] == "requests" {
				line = fmt.Sprintf("%s %s?%s %d", c.Method, c.Path, query, c.Status)
			}
			lines = append(lines, line)
		}
		slices.Sort(lines)
		fmt.Fprintln(ts.Stdout(), strings.Join(lines, "\n"))
		hub.ResetCalls()
	case "fault":
		f, err := githubtest.ParseFault(args[1:])
		ts.Check(err)
		hub.Fault(f)
	case "limit":
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		reset, err := time.ParseDuration(args[2])
		ts.Check(err)
		hub.LimitCalls(n, reset)
	case "mend":
		hub.ClearFaults()
	default:
		ts.Fatalf("github: unknown command %s", args[0])
	}
}

func startHub(ts *testscript.TestScript, file string) {
	hub, err := githubtest.Start(githubtest.Config{})
	ts.Check(err)
	*ts.Value(hubKey{}).(**githubtest.Server) = hub
	var state hubFile
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	d.DisallowUnknownFields()
	ts.Check(d.Decode(&state))
	const day = 24 * time.Hour
	now := time.Now()
	for name, r := range state.Repos {
		repo := hub.Repo(name)
		r.PushedAt = now.Add(-time.Duration(r.PushedDays) * day)
		hub.Describe(name, r.About)
		for path, content := range r.Files {
			repo.AddFile(path, content)
		}
		if r.Folder != "" {
			root := ts.MkAbs(r.Folder)
			ts.Check(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				name, err := filepath.Rel(root, path)
				ts.Check(err)
				repo.AddFile(filepath.ToSlash(name), ts.ReadFile(path))
				return nil
			}))
		}
		for _, i := range r.Issues {
			i.CreatedAt = now.Add(-time.Duration(i.Days)*day - time.Hour)
			if i.BodyBytes > 0 {
				i.Body += strings.Repeat("long ", i.BodyBytes/len("long "))
			}
			repo.AddUser(i.Assignees...).AddIssue(i.Issue)
			if i.Comment != "" {
				repo.AddComment(i.Number, "mona", i.Comment)
			}
		}
	}
	ts.Setenv("GITHUB_API_URL", hub.URL)
	ts.Setenv("GH_ENTERPRISE_TOKEN", "t")
}
