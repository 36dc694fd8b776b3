package assembly

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/telemetry"
)

// Limits are GitHub's rate limits of the accounts that the server uses: the login of a token, or the
// App and each owner whose installation the App uses. Each account has a [rest.Hold], which makes
// requests wait. They also count the calls. Limits are safe for concurrent use.
type Limits struct {
	log    *slog.Logger
	budget *budget.Counter

	mu     sync.Mutex
	byName map[string]*rest.Hold
}

// NewLimits returns limits of no account yet.
func NewLimits(log *slog.Logger) *Limits {
	return &Limits{log: log, budget: budget.New(nil), byName: map[string]*rest.Hold{}}
}

// of returns the hold of an account.
func (l *Limits) of(account string) *rest.Hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	account = strings.ToLower(cmp.Or(account, "token"))
	h := l.byName[account]
	if h == nil {
		h = rest.NewHold(account, l.log)
		l.byName[account] = h
	}
	return h
}

// err returns the limits at a time as an error; nil: none.
func (l *Limits) err(now time.Time) error {
	var errs []error
	for _, one := range l.list(now) {
		if !one.Until.IsZero() {
			errs = append(errs, fmt.Errorf("GitHub limits the account %s until %s; decisions and polls wait, and continue by themselves", one.Account, one.Until.UTC().Format(time.DateTime)))
		}
	}
	return errors.Join(errs...)
}

// list returns the state of each account at a time for telemetry, in the order of their names.
func (l *Limits) list(now time.Time) []telemetry.Limit {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []telemetry.Limit
	for _, name := range slices.Sorted(maps.Keys(l.byName)) {
		list = append(list, telemetry.Limit{Account: name, Until: l.byName[name].Until(now)})
	}
	return list
}
