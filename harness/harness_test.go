package harness_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/harness"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// TestOptions checks that New refuses what cannot work, with the name of the field.
func TestOptions(t *testing.T) {
	t.Parallel()
	host := func(context.Context, triage.Repo) (runner.Host, error) { return runner.Host{}, nil }
	tests := []struct {
		name   string
		change func(o *harness.Options)
		want   string // the beginning of the error; empty: none
	}{
		{"complete", func(*harness.Options) {}, ""},
		{"no queue", func(o *harness.Options) { o.Queue = nil }, "harness: Queue is not set"},
		{"no journal", func(o *harness.Options) { o.Journal = nil }, "harness: Journal is not set: "},
		{"no host", func(o *harness.Options) { o.Host = nil }, "harness: Host is not set: "},
		{"no host in shadow", func(o *harness.Options) { o.Host, o.Config = nil, &config.Config{Mode: config.ModeShadow} }, ""},
		{"repository", func(o *harness.Options) { o.Repos = []string{"hello"} }, `harness: Repos: want owner/name, got "hello"`},
		{"own action", func(o *harness.Options) { o.Actions = []runner.Action{{Spec: pageSpec}} }, "harness: runner: Options.Actions[0].Do"},
		{"address", func(o *harness.Options) { o.Agents = []harness.Agent{{}} }, "harness: Agents[0].URL: want an address"},
		{"repository of an agent", func(o *harness.Options) { o.Agents = []harness.Agent{{URL: "http://a", Repos: []string{"/"}}} }, "harness: Agents[0].Repos: "},
		{"concurrency", func(o *harness.Options) {
			o.Agents = []harness.Agent{{URL: "http://a"}, {URL: "http://b", Concurrency: -1}}
		}, "harness: Agents[1].Concurrency: "},
		{"name", func(o *harness.Options) { o.Agents = []harness.Agent{{URL: "http://a", Name: "a/b"}} }, "harness: Agents[0].Name: "},
		{"a long name", func(o *harness.Options) { o.Agents = []harness.Agent{{URL: "http://a", Name: strings.Repeat("a", 51)}} }, "harness: Agents[0].Name: "},
		{"timeout", func(o *harness.Options) { o.Agents = []harness.Agent{{URL: "http://a", Timeout: -1}} }, "harness: Agents[0].Timeout: "},
		{"two opinions on closing", func(o *harness.Options) {
			o.Agents = []harness.Agent{{URL: "http://a/", AllowClose: true}, {URL: "http://A"}}
		}, "harness: Agents[1].AllowClose: "},
		{"closing by repository", func(o *harness.Options) {
			o.Agents = []harness.Agent{{URL: "http://a", Repos: []string{"o/a"}, AllowClose: true}, {URL: "http://a", Repos: []string{"o/b"}}}
		}, ""},
		{"credential without a secret", func(o *harness.Options) { o.Credentials = []harness.Credential{{Name: "a"}} }, `harness: Credentials: credential "a": `},
		{"two ways to authenticate", func(o *harness.Options) {
			o.Credentials = []harness.Credential{{Name: "a", Secret: "b"}}
			o.Authenticate = func(*http.Request) (harness.Claimant, error) { return harness.Claimant{}, nil }
		}, "harness: Credentials are set, and Authenticate is, too"},
		{"negative limit", func(o *harness.Options) { o.Limits.PerHour = -1 }, "harness: Limits.PerHour: "},
		{"negative time", func(o *harness.Options) { o.Limits.Claim = -1 }, "harness: Limits.Claim: "},
		{"short lease", func(o *harness.Options) { o.Limits.Lease = time.Millisecond }, "harness: Limits.Lease: "},
		{"kept for ever", func(o *harness.Options) { o.Limits.Retention = -1 }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := harness.Options{Queue: queue.New(queue.Options{}), Host: host, Journal: memory.NewJournal()}
			tt.change(&o)
			h, err := harness.New(o)
			switch {
			case tt.want == "" && (err != nil || h == nil):
				t.Errorf("got %v, %v", h, err)
			case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)):
				t.Errorf("got %v, want %s…", err, tt.want)
			}
		})
	}
}

// TestOneProcess has an event decided on over the wire, and carried out. The delivery arrives twice.
func TestOneProcess(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		h, _ := r.start("harness")
		r.work("harness", decide)
		first, again := r.enqueue(h, 7), r.enqueue(h, 7)
		if first.Result != queue.Added || first.Agent != agentURL || again.Result != queue.Duplicate || again.Task != first.Task {
			t.Errorf("got %+v and %+v, want one task", first, again)
		}
		settle()
		r.is(first.Task, queue.Done)
		r.wrote(fmt.Sprintf(labelPost, 7), fmt.Sprintf(talkPost, 7))
		for _, l := range h.Health() {
			if !l.OK {
				t.Errorf("loop %s: %s", l.Loop, l.Reason)
			}
		}
		if err := h.Run(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "Run was called before") {
			t.Errorf("a second Run: got %v", err)
		}
	})
}

// TestCancelled ends Run before and after each request to GitHub, also if its answer is lost, and goes
// on with another Harness on the same queue and journal. Each write must be made exactly once.
func TestCancelled(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after", "without the answer of"} {
		for n, last := 1, false; !last; n++ {
			ok := t.Run(fmt.Sprintf("%s request %d", when, n), func(t *testing.T) {
				inBubble(t, func(t *testing.T, r *rig) {
					h, stop := r.start("harness")
					r.work("harness", decide)
					stopped := make(chan struct{})
					end := func(i int) {
						if i == n {
							go func() {
								defer close(stopped)
								stop()
							}()
							time.Sleep(time.Millisecond) // of the bubble, in which the stop begins
						}
					}
					if when == "before" {
						r.before = end
					} else {
						r.after = func(i int) bool {
							end(i)
							return i == n && when != "after"
						}
					}
					task := r.enqueue(h, 7).Task
					settle()
					if last = r.calls < n; last {
						close(stopped)
					}
					<-stopped
					r.before, r.after = nil, nil
					stop()
					r.start("harness")
					settle()
					r.is(task, queue.Done)
					r.wrote(fmt.Sprintf(labelPost, 7), fmt.Sprintf(talkPost, 7))
				})
			})
			if !ok {
				return
			}
			if n == 1 && last {
				t.Fatal("no request was made")
			}
		}
	}
}

// TestAgentEnds ends the agent while it decides. After its claim has expired, another agent decides.
func TestAgentEnds(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		h, _ := r.start("harness")
		task := r.enqueue(h, 7).Task
		gone, err := agent.NewClient(agent.ClientOptions{URL: "http://harness", AgentURL: agentURL, Transport: wire{r}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := gone.NextTask(t.Context()); err != nil || got.TaskID != task {
			t.Fatalf("got %v, %v", got, err)
		}
		r.is(task, queue.Claimed)
		r.work("harness", decide)
		settle()
		r.is(task, queue.Done)
		r.wrote(fmt.Sprintf(labelPost, 7), fmt.Sprintf(talkPost, 7))
	})
}

// TestTwo has two Harnesses on one queue, both of which receive every event.
func TestTwo(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		a, stop := r.start("a")
		b, _ := r.start("b")
		r.work("a", decide)
		r.work("b", decide)
		var all sync.WaitGroup
		var want []string
		for n := 1; n <= 20; n++ {
			all.Go(func() { r.enqueue(a, n) })
			all.Go(func() { r.enqueue(b, n) })
			want = append(want, fmt.Sprintf(labelPost, n), fmt.Sprintf(talkPost, n))
		}
		all.Wait()
		time.Sleep(time.Second) // of the bubble
		stop()                  // the other one goes on alone
		settle()
		r.wrote(want...)
		list, err := queue.List(t.Context(), r.queue, queue.Filter{State: queue.Done})
		if err != nil || len(list) != 20 {
			t.Errorf("got %d tasks, %v, want 20 that are done", len(list), err)
		}
	})
}

// TestWhoCloses checks that the agent's entry decides whether it may close issues, and that events and
// decisions of other repositories are refused.
func TestWhoCloses(t *testing.T) {
	t.Parallel()
	closes := func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
		return protocol.DecisionMessage{Decision: protocol.Close, Rationale: "done", Actions: []protocol.ActionItem{action(`{"type":"close_issue"}`)}}, nil
	}
	for _, may := range []bool{false, true} {
		t.Run(fmt.Sprint(may), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *rig) {
				r.options.Agents[0].AllowClose = may
				r.options.Config = &config.Config{}
				r.options.Config.Policy.AllowClose = !may
				h, _ := r.start("harness")
				r.work("harness", closes)
				task := r.enqueue(h, 7).Task
				settle()
				r.is(task, queue.Done)
				var want []string
				if may {
					want = []string{"PATCH /repos/octo/hello/issues/7 200"}
				}
				r.wrote(want...)
			})
		})
	}
}

// TestRecordedAgent checks the name and the version of the agent in the record of an issue, for agents that
// claim tasks and agents that answer them.
func TestRecordedAgent(t *testing.T) {
	t.Parallel()
	two := harness.Agent{URL: "http://agent:9002", Events: []string{"issues.labeled"}}
	for _, tt := range []struct {
		name    string
		agents  []harness.Agent
		version string
		want    string
	}{
		{"its type", []harness.Agent{{URL: agentURL}}, "v1.2", "agent:issue-triage@v1.2"},
		{"no version", []harness.Agent{{URL: agentURL}}, "", "agent:issue-triage"},
		{"its name", []harness.Agent{{URL: agentURL, Name: "Labels"}, two}, "v1.2", "agent:labels@v1.2"},
		{"two of a type", []harness.Agent{{URL: agentURL}, two}, "v1.2", "agent:agent:9001.issue-triage@v1.2"},
		{"another repository's", []harness.Agent{{URL: agentURL}, {URL: "http://agent:9002", Repos: []string{"octo/other"}}}, "", "agent:issue-triage"},
	} {
		for _, sync := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, " sync ", sync), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, r *rig) {
					r.version, r.options.Agents = tt.version, slices.Clone(tt.agents)
					r.options.Agents[0].Sync = sync
					h, _ := r.start("harness")
					if sync {
						r.hosts["agent:9001"] = agent.NewHandler(agent.HandlerOptions{Decide: decide, Version: tt.version})
					} else {
						r.work("harness", decide)
					}
					r.enqueue(h, 7)
					settle()
					rec, err := r.options.Memory.Load(t.Context(), repo, 7)
					if err != nil || len(rec.Tasks) != 1 || len(rec.Tasks[0].Actions) != 2 {
						t.Fatalf("got %+v, %v", rec, err)
					}
					for _, a := range rec.Tasks[0].Actions {
						if a.Pair != tt.want {
							t.Errorf("got %q, want %q", a.Pair, tt.want)
						}
					}
				})
			})
		}
	}
}

// TestRepos checks that events of other repositories than those of Options become no tasks, and that
// the decisions on earlier tasks of them fail.
func TestRepos(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		before, stop := r.start("harness")
		task := r.enqueue(before, 7).Task
		stop()
		r.options.Repos = []string{"octo/other"}
		h, _ := r.start("harness")
		if got := r.enqueue(h, 8); got.Task != "" || got.Reason != "the repository is not configured" {
			t.Errorf("got %+v", got)
		}
		r.work("harness", decide)
		settle()
		r.is(task, queue.Failed)
		r.wrote()
	})
}

// TestRules has an event that the rules alone decide on.
func TestRules(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("foreman.yml", []byte(`
version: 1
rules:
  - {id: break, on: [issues.opened], when: issue.title contains "breaks", then: [{add_label: bug}]}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(t *testing.T, r *rig) {
		r.options.Agents, r.options.Config, r.options.Memory = nil, c, nil
		h, _ := r.start("harness")
		task := r.enqueue(h, 7).Task
		settle()
		r.is(task, queue.Done)
		r.wrote(fmt.Sprintf(labelPost, 7))
	})
}

var pageSpec = protocol.ActionSpec{Name: "page", Main: "team", Limit: 1, Params: []protocol.Param{{Name: "team", Required: true}}}

// TestOwnAction has an action of the embedding program, which the policy permits, and one that it
// does not permit.
func TestOwnAction(t *testing.T) {
	t.Parallel()
	for _, permitted := range []string{"page", "add_label"} {
		inBubble(t, func(t *testing.T, r *rig) {
			var paged []string
			r.options.Config = &config.Config{Policy: policy.Policy{Actions: []string{permitted}}}
			r.options.Actions = []runner.Action{{Spec: pageSpec, Do: func(_ context.Context, ref triage.Ref, item protocol.ActionItem, _ string) (effect.Written, error) {
				team, _, err := item.Text("team")
				paged = append(paged, fmt.Sprint(ref, " ", team))
				return effect.Written{}, err
			}}}
			h, _ := r.start("harness")
			r.work("harness", func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
				return protocol.DecisionMessage{Decision: protocol.LabelAndRespond, Actions: []protocol.ActionItem{action(`{"type":"page","team":"db"}`)}}, nil
			})
			task := r.enqueue(h, 7).Task
			settle()
			r.is(task, queue.Done)
			if got, want := strings.Join(paged, ", "), map[string]string{"page": "octo/hello#7 db"}[permitted]; got != want {
				t.Errorf("the policy permits %s: paged %q, want %q", permitted, got, want)
			}
			r.wrote()
		})
	}
}

// TestHostFails has a Host that fails for a while. The decision is carried out when it works again.
func TestHostFails(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		from := time.Now().Add(time.Minute)
		r.options.Host = func(ctx context.Context, repo triage.Repo) (runner.Host, error) {
			if time.Now().Before(from) {
				return runner.Host{}, errors.New("no token yet")
			}
			return r.host(ctx, repo)
		}
		h, _ := r.start("harness")
		r.work("harness", decide)
		task := r.enqueue(h, 7).Task
		time.Sleep(30 * time.Second) // of the bubble
		r.is(task, queue.Completed)
		settle()
		r.is(task, queue.Done)
		r.wrote(fmt.Sprintf(labelPost, 7), fmt.Sprintf(talkPost, 7))
	})
}

// TestAccess checks who may claim tasks by Handler, and that its paths alone are answered.
func TestAccess(t *testing.T) {
	t.Parallel()
	closed := func(o *harness.Options) {
		o.Credentials = []harness.Credential{{Name: "ci", Secret: "hush", Agents: []string{"HTTP://Agent:9001/"}}}
	}
	own := func(o *harness.Options) {
		o.Authenticate = func(r *http.Request) (harness.Claimant, error) {
			if r.Header.Get("X-Robot") == "" {
				return harness.Claimant{}, errors.New("no robot: s3cret")
			}
			return harness.Claimant{Name: "robot", Agents: []string{"http://Agent:9001/"}}, nil
		}
	}
	tests := []struct {
		name   string
		change func(o *harness.Options) // nil: neither Credentials nor Authenticate
		header string                   // with its name; empty: none
		host   string                   // empty: localhost
		path   string                   // empty: /queue/next
		agent  string                   // empty: agentURL
		want   int
	}{
		{name: "open on this machine", want: 204},
		{name: "open by a proxy", header: "X-Forwarded-For: 192.0.2.1", want: 403},
		{name: "open by another name", host: "example.com", want: 403},
		{name: "another site", header: "Sec-Fetch-Site: cross-site", want: 403},
		{name: "no credential", change: closed, want: 401},
		{name: "wrong credential", change: closed, header: "Authorization: Bearer loud", want: 401},
		{name: "credential", change: closed, header: "Authorization: Bearer hush", host: "example.com", want: 204},
		{name: "credential of another agent", change: closed, header: "Authorization: Bearer hush", agent: "http://other", want: 403},
		{name: "own check", change: own, header: "X-Robot: yes", host: "example.com", want: 204},
		{name: "own check of another agent", change: own, header: "X-Robot: yes", agent: "http://other", want: 403},
		{name: "own check refuses", change: own, want: 401},
		{name: "operator's path", path: "/queue/status", want: 404},
		{name: "webhook", path: "/github/webhook", want: 404},
		{name: "page", path: "/", want: 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := harness.Options{Queue: queue.New(queue.Options{}), Journal: memory.NewJournal(), Config: &config.Config{Mode: config.ModeShadow}, Log: slog.New(slog.DiscardHandler)}
			if tt.change != nil {
				tt.change(&o)
			}
			h, err := harness.New(o)
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewServer(h.Handler())
			defer srv.Close()
			url, body := srv.URL+"/queue/next", agentURL
			if tt.path != "" {
				url = srv.URL + tt.path
			}
			if tt.agent != "" {
				body = tt.agent
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"agent_url":"`+body+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			if name, value, ok := strings.Cut(tt.header, ": "); ok {
				req.Header.Set(name, value)
			}
			req.Host = tt.host
			resp, err := srv.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if text := drain(t, resp); resp.StatusCode != tt.want || strings.Contains(text, "s3cret") {
				t.Errorf("got %d %s, want %d", resp.StatusCode, text, tt.want)
			}
		})
	}
}

// TestStop checks that a waiting claim ends when the server is shut down.
func TestStop(t *testing.T) {
	t.Parallel()
	o := harness.Options{Queue: queue.New(queue.Options{}), Journal: memory.NewJournal(), Config: &config.Config{Mode: config.ModeShadow}, Log: slog.New(slog.DiscardHandler)}
	h, err := harness.New(o)
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		h.Handler().ServeHTTP(w, r)
	}))
	defer srv.Close()
	srv.Config.RegisterOnShutdown(h.Stop)
	c, err := agent.NewClient(agent.ClientOptions{URL: srv.URL, AgentURL: agentURL, Wait: 50 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.NextTask(context.WithoutCancel(t.Context()))
		ended <- err
	}()
	<-began
	begin := time.Now()
	if err := srv.Config.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || time.Since(begin) > 40*time.Second {
		t.Errorf("got %v after %s", err, time.Since(begin))
	}
}
