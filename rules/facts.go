package rules

import "time"

// Facts are what rules know about one event. The fields are plain data without
// methods, because everything that can be reached from a condition can be used
// in it; secrets have no place here.
type Facts struct {
	Issue Issue
	Event Event
	Actor Actor
	Repo  Repo
	// Now is the time of the run. When it is zero, expressions that name now fail.
	Now time.Time
}

// An Issue is the issue at the time of the event.
type Issue struct {
	Number      int       `expr:"number"`
	Title       string    `expr:"title"`
	Body        string    `expr:"body"`
	Text        string    `expr:"text"` // set by Decide: title, blank line, body
	State       string    `expr:"state"`
	StateReason string    `expr:"state_reason"`
	Author      string    `expr:"author"`      // login
	AuthorType  string    `expr:"author_type"` // "User", "Bot" or "Organization"
	Association string    `expr:"association"` // of the author, such as "NONE" or "MEMBER"
	Labels      []string  `expr:"labels"`
	Assignees   []string  `expr:"assignees"` // logins
	Milestone   string    `expr:"milestone"` // title; empty for none
	Type        string    `expr:"type"`      // name of the issue type; empty for none
	Comments    int       `expr:"comments"`
	Locked      bool      `expr:"locked"`
	CreatedAt   time.Time `expr:"created_at"`
	UpdatedAt   time.Time `expr:"updated_at"`
	URL         string    `expr:"url"` // for humans
}

// An Event is what happened.
type Event struct {
	Name      string  `expr:"name"`      // such as "issues"
	Action    string  `expr:"action"`    // such as "opened"; empty for events without
	Key       string  `expr:"key"`       // set by Decide: "issues.opened", or the name alone
	Label     string  `expr:"label"`     // the one that was added or removed; else empty
	Assignee  string  `expr:"assignee"`  // login of who was assigned or unassigned; else empty
	Milestone string  `expr:"milestone"` // title of the one that was set or removed; else empty
	Comment   Comment `expr:"comment"`   // of issue_comment events; else zero
}

// A Comment is the comment that an event is about.
type Comment struct {
	Body        string `expr:"body"`
	Author      string `expr:"author"` // login
	Association string `expr:"association"`
}

// An Actor is who caused the event.
type Actor struct {
	Login       string `expr:"login"`
	Type        string `expr:"type"` // "User", "Bot" or "Organization"
	Association string `expr:"association"`
}

// A Repo is the repository of the issue.
type Repo struct {
	Owner    string `expr:"owner"`
	Name     string `expr:"name"`
	FullName string `expr:"full_name"` // set by Decide: "owner/name"
}

// complete returns f with its derived fields set.
func (f Facts) complete() Facts {
	f.Issue.Text = f.Issue.Title + "\n\n" + f.Issue.Body
	f.Event.Key = f.Event.Name
	if f.Event.Action != "" {
		f.Event.Key += "." + f.Event.Action
	}
	f.Repo.FullName = f.Repo.Owner + "/" + f.Repo.Name
	return f
}
