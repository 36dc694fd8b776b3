package history

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

const markerTask = "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"

func TestMarker(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		marker Marker
		line   string
	}{
		{"plain", Marker{Task: markerTask}, "<!-- foreman:v1 task=" + markerTask + " comment=0 -->"},
		{"third", Marker{Task: "t", Comment: 2}, "<!-- foreman:v1 task=t comment=2 -->"},
		{
			"everything", Marker{Task: "t", Comment: 1, Scope: "a.b", Key: "k", Once: "o", By: "undo", Run: "n0nce"},
			"<!-- foreman:v1 task=t comment=1 scope=a.b key=k once=o by=undo run=n0nce -->",
		},
	}
	for _, tt := range tests {
		if got := tt.marker.String(); got != tt.line {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.line)
		}
		for _, body := range []string{tt.marker.Mark("hello"), tt.marker.Mark("")[:len(tt.line)+1], tt.line, "hello\n\n" + tt.line, "hello\r\n" + tt.line + "\r\n", tt.line + " \n\t\n"} {
			got, ok := ParseMarker(body)
			if diff := cmp.Diff(tt.marker, got); !ok || diff != "" {
				t.Errorf("%s in %q: %v\n%s", tt.name, body, ok, diff)
			}
		}
	}
}

// TestMarkFirst puts the marker in front of bodies that would hide a marker behind them.
func TestMarkFirst(t *testing.T) {
	t.Parallel()
	m := Marker{Task: markerTask}
	for _, body := range []string{"hello", "```\nopen", "<!-- open", "[x]: y\n===\n<b>\n```\n\n```\nz"} {
		got := m.Mark(body)
		line, rest, _ := strings.Cut(got, "\n")
		if line != m.String() || rest != "\n"+body {
			t.Errorf("%q is posted as %q", body, got)
		}
	}
	longest := Marker{
		Task: markerTask, Comment: 99, Scope: strings.Repeat("s", 64), Key: outcome.AgentKey(strings.Repeat("k", 64)),
		By: "retriage", Run: strings.Repeat("N", 26),
	}
	if n := utf8.RuneCountInString(longest.Mark("")); n+policy.MaxCommentLength > 65_536 {
		t.Errorf("the longest marker has %d characters", n)
	}
}

func TestParseMarkerForeign(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       Marker
		ok         bool
	}{
		{"empty", "", Marker{}, false},
		{"a line below", "x\n\n<!-- foreman:v1 task=t comment=0 -->\nhello", Marker{Task: "t"}, true},
		{"text on the same line", "<!-- foreman:v1 task=t comment=0 --> hello", Marker{Task: "t"}, true},
		{"lines above and below", "x\r\n<!-- foreman:v1 task=t comment=0 -->\r\nhello\r\n", Marker{Task: "t"}, true},
		{"the first of two counts", "<!-- foreman:v1 task=t comment=0 -->\n<!-- foreman:v1 task=u comment=0 -->", Marker{Task: "t"}, true},
		{"one that is cut off, and a whole one", "<!-- foreman:v1 task=t\n<!-- foreman:v1 task=u comment=0 -->", Marker{Task: "u"}, true},
		{"one within another", "<!-- foreman:v1 task=t <!-- foreman:v1 task=u comment=0 -->", Marker{Task: "u"}, true},
		{"over two lines", "<!-- foreman:v1 task=t\ncomment=0 -->", Marker{}, false},
		{"not closed", "<!-- foreman:v1 task=t comment=0", Marker{}, false},
		{"other version", "<!-- foreman:v12 task=t comment=0 -->", Marker{}, false},
		{"nothing in it", "<!-- foreman:v1 -->", Marker{}, false},
		{"no number", "<!-- foreman:v1 task=t -->", Marker{Task: "t", Comment: -1}, true},
		{"number of another form", "<!-- foreman:v1 task=t comment=00 -->", Marker{Task: "t", Comment: -1}, true},
		{"number with a sign", "<!-- foreman:v1 task=t comment=+1 -->", Marker{Task: "t", Comment: -1}, true},
		{"number too large", "<!-- foreman:v1 task=t comment=99999999999999999999 -->", Marker{Task: "t", Comment: -1}, true},
		{"the last of two counts", "<!-- foreman:v1 task=t task=u comment=1 comment=2 -->", Marker{Task: "u", Comment: 2}, true},
		{"the last number counts, also when it is none", "<!-- foreman:v1 task=t comment=1 comment=x -->", Marker{Task: "t", Comment: -1}, true},
		{"unknown fields", "<!-- foreman:v1 task=t comment=1 more=2 odd -->", Marker{Task: "t", Comment: 1}, true},
	}
	for _, tt := range tests {
		got, ok := ParseMarker(tt.body)
		if ok != tt.ok || got != tt.want {
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, got, ok, tt.want)
		}
	}
}

// FuzzParseMarker checks that a marker stays the same when it is written and parsed again.
func FuzzParseMarker(f *testing.F) {
	f.Add("hello\n\n<!-- foreman:v1 task=t comment=0 -->")
	f.Add("<!-- foreman:v1 task= comment=-1 scope== key=--> by=x once=- run=a -->")
	f.Add("<!-- foreman:v1 comment=1 comment=x -->")
	f.Add("<!-- foreman:v1\u00a0task=t -->")
	f.Fuzz(func(t *testing.T, body string) {
		m, ok := ParseMarker(body)
		if !ok {
			if m != (Marker{}) {
				t.Errorf("no marker: got %+v", m)
			}
			return
		}
		for _, value := range []string{m.Task, m.Scope, m.Key, m.Once, m.By, m.Run} {
			if strings.ContainsAny(value, " \t\r\n") {
				t.Errorf("a value with blanks: %q", value)
			}
		}
		got, ok := ParseMarker("x\n" + m.String())
		if !ok || got != m {
			t.Errorf("%+v became %+v, %v, by way of %s", m, got, ok, m)
		}
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	id := Identity{Task: "t", Scope: "s", Nonce: "n", Login: "hubot[bot]"}
	const bot = "hubot[bot]"
	tests := []struct {
		name, author string
		marker       Marker
		comment      effect.Comment
		command      string
		want         bool
	}{
		{"ours", bot, Marker{Task: "t", Scope: "s"}, effect.Comment{}, "", true},
		{"login in another case", "HuBot[bot]", Marker{Task: "t", Scope: "s"}, effect.Comment{}, "", true},
		{"second", bot, Marker{Task: "t", Scope: "s", Comment: 1}, effect.Comment{Nth: 1}, "", true},
		{"another number", bot, Marker{Task: "t", Scope: "s", Comment: 1}, effect.Comment{}, "", false},
		{"another task", bot, Marker{Task: "u", Scope: "s"}, effect.Comment{}, "", false},
		{"another scope", bot, Marker{Task: "t"}, effect.Comment{}, "", false},
		{"key", bot, Marker{Task: "t", Scope: "s", Key: "k"}, effect.Comment{Key: "k"}, "", true},
		{"another key", bot, Marker{Task: "t", Scope: "s", Key: "k"}, effect.Comment{Key: "l"}, "", false},
		{"answer", bot, Marker{Task: "t", Scope: "s", By: "why"}, effect.Comment{}, "why", true},
		{"no answer", bot, Marker{Task: "t", Scope: "s", By: "why"}, effect.Comment{}, "", false},
		{"once does not matter", bot, Marker{Task: "t", Scope: "s", Once: "o"}, effect.Comment{}, "", true},
		{"forged", "mallory", Marker{Task: "t", Scope: "s"}, effect.Comment{}, "", false},
		{"of a deleted account", "", Marker{Task: "t", Scope: "s"}, effect.Comment{}, "", false},
		{"the secret of the run", "mallory", Marker{Task: "t", Scope: "s", Run: "n"}, effect.Comment{}, "", true},
		{"the secret of another run", "mallory", Marker{Task: "t", Scope: "s", Run: "m"}, effect.Comment{}, "", false},
	}
	for _, tt := range tests {
		list := []triage.Comment{
			{ID: 1, Author: bot, Body: "no marker"},
			{ID: 2, Author: tt.author, Body: "x\n\n" + tt.marker.String()},
		}
		got, ok := id.Find(list, tt.comment, tt.command)
		if ok != tt.want || ok && got.ID != 2 {
			t.Errorf("%s: got %d, %v", tt.name, got.ID, ok)
		}
	}
	// Without a login or a secret, no comment is recognized as ours.
	list := []triage.Comment{{Author: "", Body: Marker{Task: "t"}.String()}, {Author: "x", Body: Marker{Task: "t"}.String()}}
	if _, ok := (Identity{Task: "t"}).Find(list, effect.Comment{}, ""); ok {
		t.Error("a comment is ours, and we have no login")
	}
	// A posted comment is found again.
	for _, c := range []effect.Comment{{}, {Nth: 3}, {Key: "k"}, {Once: "o"}} {
		for _, command := range []string{"", "undo"} {
			list := []triage.Comment{{ID: 7, Author: bot, Body: id.Marker(c, command).String()}}
			if _, ok := id.Find(list, c, command); !ok {
				t.Errorf("%+v for %q: posted, and not found", c, command)
			}
		}
	}
}

func TestLatest(t *testing.T) {
	t.Parallel()
	id := Identity{Task: "t", Login: "hubot[bot]"}
	list := []triage.Comment{
		{ID: 1, Author: "hubot[bot]", Body: Marker{Task: "old", Key: "k"}.String()},
		{ID: 2, Author: "hubot[bot]", Body: Marker{Task: "old", Key: "k"}.String()},
		{ID: 3, Author: "mallory", Body: Marker{Task: "old", Key: "k"}.String()},
		{ID: 4, Author: "hubot[bot]", Body: Marker{Task: "t", Key: "other"}.String()},
		{ID: 5, Author: "hubot[bot]", Body: "k"},
		{ID: 6, Author: "app[bot]", AuthorType: "Bot", Body: Marker{Task: "old", Key: "k"}.String()},
		{ID: 7, Author: "app[bot]", AuthorType: "Bot", Body: Marker{Task: "old", Key: "app"}.String()},
		{ID: 8, Author: "app[bot]", AuthorType: "Bot", Body: Marker{Task: "old", Key: "app"}.String()},
		{ID: 9, Author: "quoter[bot]", AuthorType: "Bot", Body: "> " + Marker{Task: "old", Key: "app"}.String()},
		{ID: 10, Author: "mallory[bot]", AuthorType: "User", Body: Marker{Task: "old", Key: "app"}.String()},
	}
	tests := []struct {
		key    string
		want   int64
		others int
	}{{"k", 2, 0}, {"other", 4, 0}, {"app", 8, 1}, {"none", 0, 0}}
	for _, tt := range tests {
		if got, others, ok := id.Latest(list, tt.key); got.ID != tt.want || len(others) != tt.others || ok != (tt.want != 0) {
			t.Errorf("%s: got %d, %v, %v, want %d", tt.key, got.ID, others, ok, tt.want)
		}
	}
}

func TestForeignAuthor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		author, login string
		warns         bool
	}{
		{"hubot[bot]", "hubot[bot]", false},
		{"HUBOT[bot]", "hubot[bot]", false},
		{"", "hubot[bot]", false},
		{"mona", "hubot[bot]", true},
		{"mona", "", true},
	}
	for _, tt := range tests {
		if tt.warns {
			server := Identity{Login: tt.login, LoginSetting: "identity.github_user"}.ForeignAuthor(triage.Comment{Author: tt.author})
			if strings.Contains(server, "bot-login") || !strings.Contains(server, "set identity.github_user to") {
				t.Errorf("the server's message names the action's input: %s", server)
			}
		}
		got := Identity{Login: tt.login}.ForeignAuthor(triage.Comment{Author: tt.author})
		if (got != "") != tt.warns || tt.warns && !strings.Contains(got, "posted as "+tt.author) {
			t.Errorf("%q posted for %q: got %q", tt.author, tt.login, got)
		}
	}
}
