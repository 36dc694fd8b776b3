package main

import (
	"flag"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/postgrestest"
	"github.com/org/foreman-action/internal/testkit/programtest"
	"github.com/org/foreman-action/internal/testkit/ramdir"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	// The scripts mostly wait; some wait for more than 10 seconds for the server's timers.
	_ = flag.Set("test.parallel", "32")
	testscript.Main(ramdir.Tests{M: m, Setenv: os.Setenv}, map[string]func(){"foremand": main})
}

const (
	scriptRepo  = "Codertocat/Hello-World"
	scriptToken = "t0ken-of-the-bot"
	hookSecret  = "hook-secret-0123456789"
)

// TestScripts runs every script of testdata/script against the real program and a fake GitHub.
// Besides testscript's own commands, scripts can use:
//
//	gh label NAME…              add labels to the repository
//	gh issue N [label=L…] [title=T] [author=A] [pr]
//	gh fault METHOD PATH status=N [nth=N] [times=N] [body=B]
//	gh clear                    end the faults
//	gh revoke|accept            refuse the bot's token, or accept it again
//	gh app                      use another GitHub that accepts only App 77, whose key is in app.pem
//	gh show N                   print an issue as it is now
//	gh wait N labels|comments COUNT   wait until the issue has COUNT labels or comments
//	gh missed FILE              GitHub's delivery of the event failed; when asked, GitHub repeats it
//	gh calls PATTERN COUNT      check that COUNT calls have a "METHOD PATH" that matches
//	gh asked PATTERN COUNT      wait until at least COUNT calls match
//	serve [ARG…]                start foremand serve --config config.yaml ARG…, wait until it
//	                            listens, and set $URL; its log is the file log
//	halt [kill]                 end it by SIGTERM, which must end with exit code 0, or by SIGKILL;
//	                            on Windows always by a kill
//	hangup                      send it SIGHUP
//	storm FILE COUNT            send COUNT different webhooks, 100 a second, and SIGHUP three times
//	                            meanwhile; each webhook must be answered with 202
//	ends CODE                   wait until it ends by itself with the exit code, and print the end
//	                            of its log
//	rescued FILE                put the only rescued copy of a database in its place
//	agent FILE                  start an agent that answers every task with the decision in FILE;
//	                            set $AGENT, and $AGENT_AT to its host and port
//	agent secret NAME SECRET    give the agent an address of the server with this userinfo
//	sql FILE STATEMENT          change a database directly, while the program may use it; a
//	                            statement can be the name of a file that ends in .sql
//	agent sync                  make the agent use the synchronous wire
//	agent stop|page|start       make the agent unreachable, answer with a maintenance page, or work
//	                            again
//	agent paged COUNT           wait until the maintenance page answered COUNT tasks
//	agent hold|go               make the agent keep its decisions, or send them
//	agent tasks COUNT           check that the agent received COUNT tasks
//	agent told N PATTERN        check that the memory summary of its N-th task matches; ^$: empty
//	python                      set $AGENT to a free address
//	python NAME:SECRET          start the agent in testdata/agents there, with a credential
//	hook EVENT FILE [delivery=D] [issue=N] [secret=S] STATUS   send a webhook as GitHub does
//	hook EVENT FILE ending STATUS                    the same; the server may end before or while it
//	                            answers
//	http METHOD PATH STATUS [BODY] [header:value…]   send a request, and print the answer
//	state STATE COUNT           wait until the queue has COUNT tasks in the state, or held
//	fails CODE PROGRAM ARG…     run a program that must end with the exit code
//	document CODE PROGRAM ARG…  run a program that must end with the exit code, and print one JSON
//	                            document and nothing else
//	image                       build an image of the agent in testdata, and set $IMAGE and $PORT
//	postgres                    start a PostgreSQL server, and set $PG to a database's address
//	postgres stop|start         crash the PostgreSQL server, or start it again
//	ready CODE                  wait until /healthcheck/ready answers with the code
//	until TEXT [COUNT]          wait until the log contains a text, COUNT times
//	task FILE                   set $TASK to the newest task of a queue
//	upstream FILE               make a queue.db of the published harness, with a task in each state
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Condition:           condition,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"gh": ghCommand, "serve": serveCommand, "halt": haltCommand, "hangup": hangupCommand, "storm": stormCommand, "ends": endsCommand, "rescued": rescuedCommand, "agent": agentCommand, "hook": hookCommand,
			"http": httpCommand, "state": stateCommand, "fails": failsCommand, "document": documentCommand, "upstream": upstreamCommand, "task": taskCommand,
			"image": imageCommand, "postgres": postgresCommand, "until": untilCommand, "sql": sqlCommand,
			"python": pythonCommand, "ready": readyCommand,
		},
	})
}

// setUp starts a fake GitHub for one script.
func setUp(e *testscript.Env) error {
	gh, err := githubtest.Start(githubtest.Config{Token: scriptToken, Login: "octocat"})
	if err != nil {
		return err
	}
	e.Defer(func() {
		gh.Close()
		for _, p := range gh.Problems() {
			e.T().Log(p)
			e.T().FailNow()
		}
	})
	gh.Repo(scriptRepo)
	e.Values["gh"] = gh
	e.Values["rig"] = &rig{}
	events, err := filepath.Abs("../../testdata/events")
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"EVENTS":         events,
		"GITHUB_API_URL": gh.URL, "BOT_TOKEN": scriptToken, "HOOK_SECRET": hookSecret, "NO_PROXY": "127.0.0.1", "HOME": e.WorkDir,
	} {
		e.Setenv(name, value)
	}
	e.Vars = append(e.Vars, programtest.RaceDetector(os.Getenv))
	return nil
}

// A rig holds the processes and fake services of one script.
type rig struct {
	url    atomic.Value // string: where the server listens now
	server *foremandProcess
	agent  *scriptAgent

	database *postgrestest.Cluster // nil: there is none
	app      *githubtest.Server    // replaces the first GitHub; nil: not started
}

func rigOf(ts *testscript.TestScript) *rig { return ts.Value("rig").(*rig) }

func fake(ts *testscript.TestScript) *githubtest.Server {
	if app := rigOf(ts).app; app != nil {
		return app
	}
	return ts.Value("gh").(*githubtest.Server)
}
