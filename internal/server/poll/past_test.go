package poll

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/triage"
)

func TestWeigh(t *testing.T) {
	t.Parallel()
	const from = 1000
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	mona, us := triage.Actor{Login: "mona", Type: "User"}, "Foreman[bot]"
	tests := []struct {
		name       string
		incomplete bool
		events     []triage.TimelineEvent
		want       balance
	}{
		{"nothing", false, nil, balance{}},
		{"before", false, []triage.TimelineEvent{{Kind: "labeled", At: at(from), Actor: "mona"}}, balance{}},
		{"a person", false, []triage.TimelineEvent{{Kind: "labeled", At: at(1001), Actor: "mona", ActorType: "User"}}, balance{others: true, by: mona}},
		{"a deleted account", false, []triage.TimelineEvent{{Kind: "labeled", At: at(1001)}}, balance{others: true}},
		{"we", false, []triage.TimelineEvent{{Kind: "labeled", At: at(1001), Actor: us}, {Kind: "closed", At: at(1009), Actor: us}}, balance{last: 1009}},
		{"whom we mentioned", false, []triage.TimelineEvent{
			{Kind: "commented", At: at(1001), Actor: us}, {Kind: "mentioned", At: at(1001), Actor: "mona"},
			{Kind: "subscribed", At: at(1001), Actor: "mona"}, {Kind: "unsubscribed", At: at(1002), Actor: "mona"},
		}, balance{last: 1001}},
		{"our marker", false, []triage.TimelineEvent{{Kind: "commented", At: at(1001), Actor: "someone", Body: "Hi\n<!-- foreman:v1 task=t comment=0 -->"}}, balance{last: 1001}},
		{"an old comment written anew", false, []triage.TimelineEvent{
			{Kind: "commented", At: at(10), Edited: at(1001), Actor: "mona", ActorType: "User"},
		}, balance{others: true, by: mona}},
		{"closed by a person", false, []triage.TimelineEvent{{Kind: "closed", At: at(1001), Actor: "mona"}, {Kind: "reopened", At: at(1002), Actor: us}}, balance{last: 1002}},
		{"opened again by a person", false, []triage.TimelineEvent{{Kind: "reopened", At: at(1002), Actor: "mona", ActorType: "User"}}, balance{others: true, reopened: true, by: mona}},
		{"a person before a bot", false, []triage.TimelineEvent{
			{Kind: "labeled", At: at(1001), Actor: "mona", ActorType: "User"}, {Kind: "labeled", At: at(1002), Actor: "other[bot]", ActorType: "Bot"},
		}, balance{others: true, by: mona}},
		{"one that is ignored", false, []triage.TimelineEvent{{Kind: "commented", At: at(1001), Actor: "stale[bot]"}}, balance{last: 1001}},
		{"too long, none of it known", true, nil, balance{others: true}},
		{"too long, begins too late", true, []triage.TimelineEvent{{Kind: "labeled", At: at(1001), Actor: us}}, balance{others: true, last: 1001}},
		{"too long, begins before", true, []triage.TimelineEvent{{Kind: "labeled", At: at(900), Actor: us}, {Kind: "labeled", At: at(1001), Actor: us}}, balance{last: 1001}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := follower{o: &Options{Bot: "foreman[bot]", Ignore: []string{"stale[bot]"}}}
			got := f.weigh(triage.Timeline{Events: tt.events, Complete: !tt.incomplete}, from)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(balance{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzTold(f *testing.F) {
	for _, seed := range []string{`{"payload":{"title":"t","body":null,"issue":{"updated_at":"2026-11-20T12:00:00Z"}}}`, `{"payload":{"issue":{"updated_at":"0001-01-01T00:00:00Z"}}}`, `{}`, `[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := read(data); got.at < 0 || !got.known {
			t.Errorf("got %+v", got)
		}
	})
}
