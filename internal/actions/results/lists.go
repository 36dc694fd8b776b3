package results

import (
	"slices"
	"sync"
	"time"
)

// listAge is how long a list of artifacts serves the loads and saves of a run. A save that was
// made from an old list notices afterwards: see upload.confirm.
const listAge = time.Minute

// lists has the artifacts that a run has listed. It is safe for concurrent use.
type lists struct {
	now func() time.Time

	mu     sync.Mutex
	names  map[string]list
	recent list            // of all names
	whole  bool            // recent has all artifacts that there were
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

// get returns the artifacts of a name; ok is false when they have to be listed.
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

// put keeps the artifacts of a name.
func (l *lists) put(name string, all []Info) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names[name], l.stale[name] = list{all, l.now()}, true
}

// putRecent keeps the newest artifacts of all names.
func (l *lists) putRecent(all []Info, whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent, l.whole = list{all, l.now()}, whole
	clear(l.stale)
	clear(l.names)
}

// forget lets the artifacts of a name be listed again.
func (l *lists) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.names, name)
	l.stale[name] = true
}

// newest returns the highest id of the artifacts of all names; 0 when they were not listed.
func (l *lists) newest() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var id int64
	for _, info := range l.recent.all {
		id = max(id, info.ID)
	}
	return id
}

// listedAll reports whether the artifacts of all names were listed at any time.
func (l *lists) listedAll() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.recent.at.IsZero()
}

// named returns the artifacts with a name.
func named(all []Info, name string) []Info {
	return slices.DeleteFunc(slices.Clone(all), func(i Info) bool { return i.Name != name })
}
