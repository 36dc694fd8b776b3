package memory

import (
	"bytes"
	"encoding/json"
)

// fit folds the oldest tasks, and drops what humans did before the rest, until the
// record is within its bounds. All else is: every part is as a check wants it. Each
// part is encoded once, and the head once for each time that it grew too much; steps
// is how often something was encoded.
func (r *Record) fit() (steps int) {
	e := r.Earlier.clone()
	fold := func(n int) {
		for _, t := range r.Tasks[:n] {
			e.add(t)
		}
		r.Earlier, r.Tasks = &e, r.Tasks[n:]
		r.dropHumans()
	}
	if more := len(r.Tasks) - MaxTasks; more > 0 {
		fold(more)
	}
	tasks, humans := roomOf(r.Tasks), roomOf(r.Humans)
	steps = len(tasks) + len(humans)
	for len(r.Tasks) > 0 {
		steps++
		free := MaxSize - r.head()
		if tasks.sum()+humans.sum() <= free {
			break
		}
		for len(r.Tasks) > 0 && tasks.sum()+humans.sum() > free {
			fold(1)
			tasks, humans = tasks[1:], humans[len(humans)-len(r.Humans):]
		}
	}
	return steps
}

// fitHumans drops the oldest changes until the record is within its bounds, and
// returns as fit does.
func (r *Record) fitHumans() (steps int) {
	tasks, humans := roomOf(r.Tasks), roomOf(r.Humans)
	free := MaxSize - r.head() - tasks.sum()
	for len(humans) > 0 && humans.sum() > free {
		humans = humans[1:]
	}
	r.Humans = orNil(r.Humans[len(r.Humans)-len(humans):])
	return 1 + len(tasks) + len(r.Humans)
}

// A rooms holds the bytes that each element of a list takes in the stored form of a
// record, with the line's end, two spaces, and the comma of the one before.
type rooms []int

func (r rooms) sum() int {
	n := 0
	for _, size := range r {
		n += size
	}
	return n
}

func roomOf[T any](list []T) rooms {
	var sizes rooms
	for _, v := range list {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("  ", " ")
		if err := e.Encode(v); err != nil {
			// It would not be stored at all.
			b.Write(make([]byte, MaxSize))
		}
		sizes = append(sizes, b.Len()-len("\n")+len(",\n  "))
	}
	return sizes
}

// head is the bytes that a record takes at its last revision, with what two lists take
// that hold something, and without what they hold.
func (r *Record) head() int {
	data, err := marshal(Record{
		Repo: r.Repo, Issue: r.Issue, Revision: maxRevision, Earlier: r.Earlier, Scores: r.Scores,
		Never: r.Never, Closings: r.Closings,
	})
	if err != nil {
		return MaxSize
	}
	return len(data) + len("\n ") - len(",") + len(",\n \"humans\": [\n ]") - len(",")
}
