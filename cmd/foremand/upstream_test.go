package main

import (
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// upstreamCommand makes a queue.db with the documented schema of the published harness, with a task
// in each state.
func upstreamCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: upstream FILE")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(`PRAGMA journal_mode=WAL;
CREATE TABLE task_queue (
	task_id TEXT PRIMARY KEY, agent_url TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending', payload TEXT NOT NULL,
	created_at REAL NOT NULL, claimed_at REAL, completed_at REAL, result TEXT, retry_count INTEGER NOT NULL DEFAULT 0, last_heartbeat REAL);
CREATE INDEX idx_task_queue_status ON task_queue (status, agent_url);`)
	ts.Check(err)
	task := func(n, status, result string) {
		id := "00000000-0000-4000-8000-00000000000" + n
		payload := `{"task_id":"` + id + `","type":"issue.triage","repo":"` + scriptRepo + `","payload":{"number":` + n +
			`,"title":"T","body":null,"state":"open","user":{"login":"u"},"labels":[]},"context":{"llm_backend":{"provider":"anthropic","model":"m"},"memory_summary":null}}`
		var decided any
		if result != "" {
			decided = `{"task_id":"` + id + `",` + result
		}
		_, err := db.Exec(`INSERT INTO task_queue (task_id, agent_url, status, payload, created_at, completed_at, result) VALUES (?,?,?,?,?,?,?)`,
			id, ts.Getenv("AGENT"), status, payload, float64(time.Now().Add(-time.Hour).Unix()), nil, decided)
		ts.Check(err)
	}
	decision := `"decision":"label_and_respond","rationale":"r","actions":[{"type":"add_label","label":"bug"}]}`
	task("1", "pending", "")
	task("2", "completed", decision)
	task("3", "done", decision)
	task("4", "failed", "")
}

func sqlCommand(ts *testscript.TestScript, neg bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	statements := args[1]
	if strings.HasSuffix(statements, ".sql") {
		statements = ts.ReadFile(statements)
	}
	_, err = db.Exec(statements)
	ts.Check(err)
}

func taskCommand(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("foremand", "queue", "ls", "--json", "--queue-db", args[0]))
	var list struct {
		Tasks []struct {
			ID string `json:"task_id"`
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
	ts.Setenv("TASK", list.Tasks[0].ID)
}
