package api_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/queue"
)

// TestTrackRecord checks that operators get the report on a repository as JSON, and others do not.
func TestTrackRecord(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	report := func(repo string) trackrecord.Report {
		o := &memory.Outcomes{Judged: at}
		o.Count(memory.PairKey{Source: "rule:00ff", Action: "add_label", Value: "<b>"}, "crash", memory.Result{Outcome: memory.OutcomeUndone, Issue: 7, Author: "mona", Acted: at.Add(time.Hour), At: at}, memory.Threshold{Of: 20})
		return trackrecord.New(o, trackrecord.Options{Repo: repo, Memory: "server", Web: "https://github.com", Now: at, Policy: policy.Policy{Earned: true}, Waiting: &trackrecord.Waiting{Due: 3}})
	}
	serve := func(repos ...string) *historyRig {
		credentials, err := access.NewCredentials([]access.Credential{
			{Name: "ann", Secret: secret.Text("s3cret-of-ann"), Operator: true}, {Name: "ci", Secret: secret.Text("s3cret-of-ci"), Agents: []string{"http://a/"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		server, err := api.New(api.Options{
			Queue: queue.New(queue.Options{}), Credentials: credentials, Repos: repos,
			TrackRecord: func(_ context.Context, repo string) (trackrecord.Report, error) {
				if repo == "o/broken" {
					return trackrecord.Report{}, queue.ErrUnavailable
				}
				return report(repo), nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(server)
		t.Cleanup(s.Close)
		return &historyRig{T: t, url: s.URL}
	}
	one, two, none := serve("o/r"), serve("o/r", "o/broken"), serve()
	for _, tt := range []struct {
		rig           *historyRig
		query, secret string
		status        int
	}{
		{one, "", "s3cret-of-ann", 200},
		{two, "?repo=O/R", "s3cret-of-ann", 200},
		{two, "", "s3cret-of-ann", 422},
		{two, "?repo=o/none", "s3cret-of-ann", 404},
		{two, "?repo=o/broken", "s3cret-of-ann", 503},
		{none, "", "s3cret-of-ann", 404},
		{one, "", "s3cret-of-ci", 403},
		{one, "", "wrong", 401},
	} {
		status, body, err := tt.rig.get("/server/track-record"+tt.query, tt.secret)
		if status != tt.status || err != nil {
			t.Errorf("%s: got %d, %v, want %d; %s", tt.query, status, err, tt.status, body)
		}
		if tt.status != 200 {
			continue
		}
		var got, want any
		data, err := json.Marshal(report("o/r"))
		if err == nil {
			err = json.Unmarshal(data, &want)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
	}
}
