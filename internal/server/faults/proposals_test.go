//go:build unix

package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// TestKillProposals is TestKill with a policy under which every action is proposed. A person ticks the
// boxes, again if a box was emptied. Nothing may be lost, doubled, or carried out without a yes.
func TestKillProposals(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts and kills processes for some seconds")
	}
	program := build(t)
	for _, d := range deployments() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			o := d.setting(t, program)
			o.level = "full_control"
			s := newStage(t, o)
			s.gh.Repo(repo).SetPermission("mona", "write")
			s.people = s.tick
			killing(t, s, points(), *killRounds)
		})
	}
}

// tick ticks the boxes in the comment with the proposals on an issue, until all were carried out.
func (s *stage) tick(ctx context.Context, issue int) error {
	for try := 0; wait(ctx, 20*time.Millisecond); try++ {
		c, ours := s.proposals(issue)
		labels := len(s.gh.Issue(repo, issue).Labels)
		switch {
		case try == 0 && ours+labels > 0:
			return fmt.Errorf("issue %d: %d comments and %d labels without a yes", issue, ours, labels)
		case c.ID == 0:
			try = -1 // nothing was proposed yet
			continue
		case ours == 2 && labels == 2 && !strings.Contains(c.Body, "- ["):
			if strings.Count(c.Body, "accepted by `mona`") != 4 {
				return fmt.Errorf("issue %d: not all proposals were accepted:\n%s", issue, c.Body)
			}
			return nil
		}
		after := strings.ReplaceAll(c.Body, "- [ ] **", "- [x] **")
		if after == c.Body {
			continue // a server is at work
		}
		s.gh.Repo(repo).EditComment(c.ID, after)
		if err := s.edited(ctx, issue, try, c, after); err != nil {
			return err
		}
	}
	return fmt.Errorf("issue %d: the proposals were not carried out: %w", issue, ctx.Err())
}

// proposals returns the comment with the proposals on an issue, and the number of the other comments.
func (s *stage) proposals(issue int) (c githubtest.Comment, others int) {
	for _, one := range s.gh.Issue(repo, issue).Comments {
		if strings.Contains(one.Body, "key=foreman-suggestions") {
			c = one
		} else {
			others++
		}
	}
	return c, others
}

// edited sends the webhook of an edit by a person until a server has accepted it.
func (s *stage) edited(ctx context.Context, issue, try int, c githubtest.Comment, after string) error {
	now := time.Now().UTC().Format(time.RFC3339)
	body, err := json.Marshal(map[string]any{
		"action": "edited", "repository": map[string]any{"full_name": repo, "default_branch": "main"}, "sender": map[string]any{"login": "mona", "type": "User"},
		"issue":   map[string]any{"number": issue, "title": "It crashes", "body": "b", "state": "open", "user": map[string]any{"login": "mona"}, "updated_at": now},
		"comment": map[string]any{"id": c.ID, "body": after, "user": map[string]any{"login": c.Author}, "created_at": c.CreatedAt, "updated_at": now},
		"changes": map[string]any{"body": map[string]any{"from": c.Body}},
	})
	if err != nil {
		return err
	}
	for wait(ctx, 20*time.Millisecond) {
		status, err := send(ctx, s.front.URL, "issue_comment", fmt.Sprintf("tick-%d-%d", issue, try), string(body))
		if err == nil && (status == http.StatusAccepted || status == http.StatusOK) {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("tick the boxes of issue %d", issue), ctx.Err())
}
