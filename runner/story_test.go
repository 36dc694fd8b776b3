package runner_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A story is a test on issue 1 that lasts several days. The clocks of the fake GitHub and of the
// runs move together.
type story struct {
	*testing.T
	gh    *githubtest.Server
	repo  *githubtest.Repo
	on    triage.Delivery // the schedule event
	issue triage.Delivery // an event: the label bug is added to the issue
	o     options
	ahead time.Duration
	tasks int
}

func newStory(t *testing.T, config string) *story {
	t.Helper()
	gh, on, o := scheduled(t, config)
	_, e, _ := world(t, "")
	e.Action, e.Label = "labeled", "bug"
	s := &story{T: t, gh: gh, repo: gh.Repo(sweepRepo).SetPermission("mona", "admin"), on: on, issue: e, o: o}
	s.o.Clock.Now = func() time.Time { return time.Now().Add(s.ahead) }
	s.issue.Issue.CreatedAt, s.issue.Issue.UpdatedAt = s.o.Clock.Now(), s.o.Clock.Now()
	return s
}

func (s *story) pass(d time.Duration) {
	s.ahead += d
	s.gh.Advance(d)
}

// next returns options with a new task, and the event with the current issue.
func (s *story) next(e triage.Delivery) (options, triage.Delivery) {
	s.tasks++
	o := s.o
	o.Task.ID = protocol.DeriveTaskID("story", strconv.Itoa(s.tasks))
	if e.Issue != nil {
		i := *e.Issue
		i.Labels, i.State, i.UpdatedAt = s.gh.Issue(sweepRepo, 1).Labels, s.gh.Issue(sweepRepo, 1).State, s.o.Clock.Now().Truncate(time.Second)
		e.Issue = &i
	}
	return o, e
}

// sweep makes a scheduled run, whose summary must contain a text.
func (s *story) sweep(want string) runner.Survey {
	s.Helper()
	o, e := s.next(s.on)
	v, err := sweep(s.T, o, e)
	if err != nil || !strings.Contains(v.Reason, want) {
		s.Fatalf("run %d: got %q, %v, want %q: %+v", s.tasks, v.Reason, err, want, v.Reports)
	}
	return v
}

// run handles an event, and returns the result of each action.
func (s *story) run(e triage.Delivery) string {
	s.Helper()
	o, e := s.next(e)
	return s.attempt(o, e)
}

func (s *story) attempt(o options, e triage.Delivery) string {
	s.Helper()
	rep, err := run(s.T, o, e)
	if err != nil {
		s.Fatal(err)
	}
	return told(rep)
}

// told returns the results of a report, such as "add_label done, close_issue none: already closed".
func told(rep runner.Report) string {
	var list []string
	for _, a := range rep.Actions {
		text := a.Action.Type + " " + a.State.Result()
		if a.State.Result() == "none" {
			text += ": " + a.Reason
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// record returns the stored record of issue 1.
func (s *story) record() memory.Record {
	s.Helper()
	r, err := s.o.Memory.Store.Load(s.Context(), sweepRepo, 1)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// newest returns the id of the newest comment.
func (s *story) newest() int64 {
	list := s.gh.Issue(sweepRepo, 1).Comments
	return list[len(list)-1].ID
}
