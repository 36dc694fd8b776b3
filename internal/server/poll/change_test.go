package poll

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/triage"
)

func TestSummarize(t *testing.T) {
	t.Parallel()
	const from = 1000
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	mona, us := triage.Actor{Login: "mona", Type: "User"}, "Foreman[bot]"
	tests := []struct {
		name       string
		incomplete bool
		events     []triage.TimelineEvent
		want       activity
	}{
		{"nothing", false, nil, activity{}},
		{"before", false, []triage.TimelineEvent{{Kind: "labeled", At: at(from), Actor: "mona"}}, activity{}},
		{"a person", false, []triage.TimelineEvent{{Kind: "labeled", At: at(1001), Actor: "mona", ActorType: "User"}}, activity{others: true, by: mona}},
		{"a deleted account", false, []triage.TimelineEvent{{Kind: "labeled", At: at(1001)}}, activity{others: true}},
		{"we", false, []triage.TimelineEvent{{Kind: "labeled", At: at(1001), Actor: us}, {Kind: "closed", At: at(1009), Actor: us}}, activity{last: 1009}},
		{"whom we mentioned", false, []triage.TimelineEvent{
			{Kind: "commented", At: at(1001), Actor: us}, {Kind: "mentioned", At: at(1001), Actor: "mona"},
			{Kind: "subscribed", At: at(1001), Actor: "mona"}, {Kind: "unsubscribed", At: at(1002), Actor: "mona"},
		}, activity{last: 1001}},
		{"our marker", false, []triage.TimelineEvent{{Kind: "commented", At: at(1001), Actor: "another[bot]", Body: "Hi\n<!-- foreman:v1 task=t comment=0 -->"}}, activity{last: 1001}},
		{"our marker in a comment of a person", false, []triage.TimelineEvent{{Kind: "commented", At: at(1001), Actor: "someone", Body: "Hi\n<!-- foreman:v1 task=t comment=0 -->"}}, activity{others: true, by: triage.Actor{Login: "someone"}}},
		{"an old comment written anew", false, []triage.TimelineEvent{
			{Kind: "commented", At: at(10), Edited: at(1001), Actor: "mona", ActorType: "User"},
		}, activity{others: true, by: mona}},
		{"closed by a person", false, []triage.TimelineEvent{{Kind: "closed", At: at(1001), Actor: "mona"}, {Kind: "reopened", At: at(1002), Actor: us}}, activity{last: 1002}},
		{"opened again by a person", false, []triage.TimelineEvent{{Kind: "reopened", At: at(1002), Actor: "mona", ActorType: "User"}}, activity{others: true, reopened: true, by: mona}},
		{"a person before a bot", false, []triage.TimelineEvent{
			{Kind: "labeled", At: at(1001), Actor: "mona", ActorType: "User"}, {Kind: "labeled", At: at(1002), Actor: "other[bot]", ActorType: "Bot"},
		}, activity{others: true, by: mona}},
		{"one that is ignored", false, []triage.TimelineEvent{{Kind: "commented", At: at(1001), Actor: "stale[bot]"}}, activity{last: 1001}},
		{"too long, none of it known", true, nil, activity{others: true}},
		{"too long, begins too late", true, []triage.TimelineEvent{{Kind: "labeled", At: at(1001), Actor: us}}, activity{others: true, last: 1001}},
		{"too long, begins before", true, []triage.TimelineEvent{{Kind: "labeled", At: at(900), Actor: us}, {Kind: "labeled", At: at(1001), Actor: us}}, activity{last: 1001}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := filter{bot: "foreman[bot]", ignore: []string{"stale[bot]"}}
			got := summarize(triage.Timeline{Events: tt.events, Complete: !tt.incomplete}, from, f)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(activity{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzSnapshot(f *testing.F) {
	for _, seed := range []string{`{"payload":{"title":"t","body":null,"issue":{"updated_at":"2026-11-20T12:00:00Z"}}}`, `{"payload":{"issue":{"updated_at":"0001-01-01T00:00:00Z"}}}`, `{}`, `[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := parseSnapshot(data); got.at < 0 || !got.exists {
			t.Errorf("got %+v", got)
		}
	})
}
