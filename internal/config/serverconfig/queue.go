package serverconfig

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/config/schema"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Queue configures the store of tasks, with its limits.
type Queue struct {
	DBPath          string        `yaml:"db_path,nullable"`                              // SQLite file; empty: the program's default
	URL             secret.Text   `yaml:"url"`                                           // path of a SQLite file, or postgres://…; empty: DBPath
	ClaimTimeout    Seconds       `default:"300"           yaml:"claim_timeout_seconds"` // an agent's claim, see queue.DefaultClaim
	MaxClaim        time.Duration `default:"2h"            yaml:"max_claim"`             // longest time of a claim, however many heartbeats
	MaxRetries      int           `default:"3"             yaml:"max_retries"`           // most claims of a task
	MaxDrains       int           `default:"8"             yaml:"max_drains"`            // most attempts to carry a decision out
	DrainTimeout    Seconds       `default:"8"             yaml:"drain_timeout_seconds"` // lease of a decision, see queue.DefaultLease
	DrainInterval   Seconds       `default:"10"            yaml:"drain_interval_seconds"`
	RequeueInterval Seconds       `default:"60"            yaml:"requeue_interval_seconds"`
	Retention       time.Duration `default:"30d"           yaml:"retention"`             // of done and failed tasks
	MaxTasks        int           `default:"100"           yaml:"max_tasks_per_hour"`    // per repository; 0: no limit
	WritesPerMinute int           `default:"80"            yaml:"max_writes_per_minute"` // to GitHub
	WritesPerHour   int           `default:"500"           yaml:"max_writes_per_hour"`   // to GitHub
}

func queueKeys(spec Spec) schema.Table {
	return schema.Table{
		{Path: "queue", Doc: "Where tasks are kept, and how long."},
		{Path: "queue.db_path", Rule: homePath(spec.Home), Doc: "SQLite file of the queue. Absent: foreman/queue.db in $XDG_STATE_HOME, else in ~/.local/state; in ~/.foreman if only that folder has a database."},
		{Path: "queue.url", Rule: homePath(spec.Home), Doc: "Path of a SQLite file, or postgres://user@host/database."},
		{Path: "queue.claim_timeout_seconds", Rule: between(1, maxSeconds), Doc: "How long a claim lasts without a heartbeat; default 300."},
		{Path: "queue.max_claim", Rule: schema.Positive(),
			Doc: "Longest time of a claim, however many heartbeats the agent sends, such as 2h (the default); at least claim_timeout_seconds."},
		{Path: "queue.max_retries", Rule: between(1, 1000), Doc: "How often a task is handed out before it fails; default 3."},
		{Path: "queue.max_drains", Rule: between(1, 1000), Doc: "How often a decision is tried before its task fails; default 8."},
		{Path: "queue.drain_timeout_seconds", Rule: between(3, maxSeconds),
			Doc: "How long a server's lease of a decision lasts without a renewal; it ends earlier if the server is known to have ended; default 8."},
		{Path: "queue.drain_interval_seconds", Rule: between(1, maxSeconds), Doc: "Longest time between two searches for decisions; default 10."},
		{Path: "queue.requeue_interval_seconds", Rule: between(1, maxSeconds), Doc: "Time between two searches for expired claims; default 60."},
		{Path: "queue.retention", Rule: schema.Positive(), Doc: "How long done and failed tasks are kept, such as 30d (the default)."},
		{Path: "queue.max_tasks_per_hour", Rule: between(0, 1_000_000),
			Doc: "Maximum number of tasks of a repository within an hour; others wait; default 100; 0: any number."},
		{Path: "queue.max_writes_per_minute", Rule: between(1, 1_000_000), Doc: "Maximum number of writes to GitHub within a minute; default 80."},
		{Path: "queue.max_writes_per_hour", Rule: between(1, 1_000_000), Doc: "Maximum number of writes to GitHub within an hour; default 500."},
	}
}

func (q *Queue) check(f file) {
	location, url := f.node("queue", "url"), string(q.URL)
	if url != "" && q.DBPath != "" {
		f.Problemf(location, "queue: either url or db_path, not both")
	}
	at, timeout := f.node("queue", "max_claim"), q.ClaimTimeout.Duration()
	switch {
	case at == nil:
		q.MaxClaim = max(q.MaxClaim, timeout)
	case q.MaxClaim <= 0: // its rule reports it
	case q.MaxClaim > maxSeconds*time.Second:
		f.Problemf(at, "queue.max_claim: want at most a year, got %s", q.MaxClaim)
	case q.MaxClaim < timeout:
		f.Problemf(at, "queue.max_claim: want at least claim_timeout_seconds, %s, got %s", timeout, q.MaxClaim)
	}
	f.database(location, "queue.url", url)
	f.database(f.node("queue", "db_path"), "queue.db_path", q.DBPath)
}

// database reports the problem with the location of a database, the value of a key; "" is the
// default location.
func (f file) database(at *yaml.Node, key, location string) {
	err := CheckLocation(location)
	if err == nil && Postgres(location) && f.spec.Database != nil {
		err = f.spec.Database(location)
	}
	if err != nil {
		f.Problemf(at, "%s: %v", key, err)
	}
}

// ErrLocation means that a text is not the location of a database.
var ErrLocation = errors.New("want the path of a SQLite file, or postgres://user:password@host:5432/database; in a user or password write @ as %40, / as %2F, # as %23 and % as %25")

// CheckLocation returns an error that matches [ErrLocation] for a text that is neither the path of a
// SQLite file nor the URL of a PostgreSQL database, such as a list of keywords (host=… password=…).
// The error contains no part of the text, which may be a password. A file whose name looks like an
// address is "./NAME".
func CheckLocation(location string) error {
	start, rest, slash := strings.Cut(location, "/")
	scheme, _, colon := strings.Cut(start, ":")
	scheme = strings.ToLower(strings.TrimSpace(scheme))
	switch {
	case Postgres(location):
		return nil
	case strings.Contains(start, "="):
		return fmt.Errorf("keywords are not supported: %w; a file of that name is ./NAME", ErrLocation)
	case colon && (scheme == "postgres" || scheme == "postgresql"):
		return fmt.Errorf("the address does not begin with postgres://: %w", ErrLocation)
	case colon && slash && scheme != "file" && strings.HasPrefix(rest, "/"):
		return fmt.Errorf("unknown scheme%s: %w", yamlfile.DidYouMean(scheme, []string{"postgres"}), ErrLocation)
	}
	return nil
}

// Postgres reports whether the address of a queue is that of a PostgreSQL server.
func Postgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}
