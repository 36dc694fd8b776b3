package script

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// text removes an argument and returns its value. If the argument is absent, it returns otherwise.
func (a arguments) text(key, otherwise string) string {
	value, ok := a[key]
	if !ok {
		return otherwise
	}
	delete(a, key)
	return withIDs(value)
}

// bytes is text as bytes. The value "none" means nil, unless there is a default.
func (a arguments) bytes(key, otherwise string) []byte {
	if text := a.text(key, otherwise); text != none {
		return []byte(text)
	}
	return nil
}

func (a arguments) int(key string, otherwise int) int {
	n, err := strconv.Atoi(a.text(key, strconv.Itoa(otherwise)))
	if err != nil {
		panic(err) // the script has a mistake
	}
	return n
}

func (a arguments) duration(key string, otherwise time.Duration) time.Duration {
	d, err := time.ParseDuration(a.text(key, otherwise.String()))
	if err != nil {
		panic(err)
	}
	return d
}

func (a arguments) flag(key string) bool { return a.text(key, "") != "" }

// ref returns the claim that a call names.
func (a arguments) ref(id string) queue.Ref {
	return queue.Ref{ID: id, Attempt: a.int("attempt", 0), By: a.text("by", "")}
}

// seen returns the task that a call names, as the line says that it was seen.
func (a arguments) seen(id string) queue.Seen {
	return queue.Seen{ID: id, State: queue.State(a.text("state", "")), Attempt: a.int("attempt", 0), Epoch: int64(a.int("epoch", 0))}
}

// Task returns task n with the arguments of the call "enqueue", such as "issue=7 coalesce". By
// default its issue is n, and its message contains its id. It panics if the arguments are wrong.
func Task(n int, args string) queue.Task {
	s, err := parseStep("enqueue " + args)
	if err != nil {
		panic(err)
	}
	return s.arguments().task(n, ID(n))
}

// task returns task n with the arguments. By default its issue is n, and its message contains its
// id.
func (a arguments) task(n int, id string) queue.Task {
	return queue.Task{
		ID: id, Agent: a.text("agent", Agent), Repo: a.text("repo", Repo), Issue: a.int("issue", n),
		Message: a.bytes("message", fmt.Sprintf(`{"task_id":%q}`, id)), Origin: a.bytes("origin", `{"event":"issues"}`),
		Dedup: a.text("dedup", ""), Priority: a.int("priority", 0), Coalesce: a.flag("coalesce"), Join: join(a.text("join", "")),
		HourlyLimit: a.int("limit", 0), Wait: a.duration("wait", 0),
		Title: strings.ReplaceAll(a.text("title", ""), "+", " "), Delivery: a.text("delivery", ""),
	}
}

// join returns a named function for Task.Join.
func join(name string) func(old, new queue.Body) (queue.Body, bool) {
	switch name {
	case "refuse":
		return func(_, _ queue.Body) (queue.Body, bool) { return queue.Body{}, false }
	case "toolarge":
		return func(_, _ queue.Body) (queue.Body, bool) {
			return queue.Body{Message: make([]byte, queue.MaxMessage+1)}, true
		}
	case "both":
		return func(old, new queue.Body) (queue.Body, bool) {
			return queue.Body{
				Message: fmt.Appendf(nil, `{"old":%s,"new":%s}`, old.Message, new.Message),
				Origin:  fmt.Appendf(nil, `[%q,%q]`, old.Origin, new.Origin),
			}, true
		}
	}
	return nil
}
