package results

import (
	"slices"
	"sync"
	"time"
)

// listAge is the age up to which loads and saves use a list of artifacts again. A save that uses an
// outdated list detects that after its upload: see upload.confirm.
const listAge = time.Minute

// lists caches the artifacts that a run has listed. It is safe for concurrent use.
type lists struct {
	now func() time.Time

	mu     sync.Mutex
	names  map[string]list
	recent list            // artifacts of all names
	whole  bool            // recent contains all artifacts that existed then
	stale  map[string]bool // names for which recent is out of date
}

// A list is the service's list at a point in time.
type list struct {
	all []Info
	at  time.Time
}

func newLists(now func() time.Time) *lists {
	return &lists{now: now, names: map[string]list{}, stale: map[string]bool{}}
}

// get returns the artifacts with a name; ok is false when the caller has to list them.
func (l *lists) get(name string) (all []Info, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, ok := l.names[name]; ok && l.young(one) {
		return one.all, true
	}
	if l.stale[name] || !l.young(l.recent) {
		return nil, false
	}
	all = named(l.recent.all, name)
	return all, len(all) > 0 || l.whole
}

func (l *lists) young(one list) bool { return !one.at.IsZero() && l.now().Sub(one.at) < listAge }

// put stores the artifacts with a name.
func (l *lists) put(name string, all []Info) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names[name], l.stale[name] = list{all, l.now()}, true
}

// putRecent stores the newest artifacts of all names.
func (l *lists) putRecent(all []Info, whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent, l.whole = list{all, l.now()}, whole
	clear(l.stale)
	clear(l.names)
}

// newestOfAll returns the newest artifacts of all names, if they were listed lately; whole means that
// these are all that existed then.
func (l *lists) newestOfAll() (all []Info, whole, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recent.all, l.whole, l.young(l.recent)
}

// forget drops the artifacts with a name, so that the next get makes the caller list them again.
func (l *lists) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.names, name)
	l.stale[name] = true
}

// newest returns the highest id in the list of all names, 0 if there was no such list.
func (l *lists) newest() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var id int64
	for _, info := range l.recent.all {
		id = max(id, info.ID)
	}
	return id
}

// listedAll reports whether putRecent was ever called.
func (l *lists) listedAll() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.recent.at.IsZero()
}

// named returns the artifacts with a name.
func named(all []Info, name string) []Info {
	return slices.DeleteFunc(slices.Clone(all), func(i Info) bool { return i.Name != name })
}
