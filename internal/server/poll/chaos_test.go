package poll

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// A chaos is a random story. It records the times at which people changed each issue.
type chaos struct {
	*story
	r      *rand.Rand
	people map[int][]int64 // times of changes by people, by issue
	acted  map[int]bool
	closed map[int]bool
	steps  []string
}

// TestChaos lets people and Foreman change issues, while the poller is killed, the queue is
// unavailable and GitHub fails. At the end, each open issue must have a task that contains the last
// change by a person. Between two tasks of an issue there must be a change by a person.
func TestChaos(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := &chaos{story: newStory(t, ""), r: rand.New(rand.NewPCG(seed, 1)), people: map[int][]int64{}, acted: map[int]bool{}, closed: map[int]bool{}}
			for range 150 {
				c.next()
			}
			c.do("well")
			c.do("mended")
			for range 6 {
				c.do("finish")
				c.do("pass 1m")
				c.do("poll")
			}
			c.check()
		})
	}
}

func (c *chaos) do(line string) {
	c.steps = append(c.steps, c.clock.Now().Format(time.TimeOnly)+" "+line)
	c.step(line)
}

// next performs a random action.
func (c *chaos) next() {
	switch k := c.r.IntN(100); {
	case k < 25:
		c.do(fmt.Sprintf("pass %ds", 1+c.r.IntN(70)))
	case k < 45:
		c.do("poll")
	case k < 52:
		c.do("mended")
		c.do("finish")
	case k < 56:
		c.do(fmt.Sprintf("kill %d", 1+c.r.IntN(3)))
	case k < 58:
		c.do("restart")
	case k < 59:
		c.do("broken")
	case k < 62:
		c.do("mended")
	case k < 63:
		c.do("fault GET /repos/octo/hello/issues/*/timeline status=500 times=4")
	case k < 64:
		c.do("fault GET /repos/octo/hello/issues cutafter times=4")
	case k < 66:
		c.do("well")
	case k < 74:
		n := len(c.people) + 1
		c.person(n)
		c.do(fmt.Sprintf("issue %d mona", n))
	default:
		if len(c.people) > 0 {
			c.change(1 + c.r.IntN(len(c.people)))
		}
	}
}

// person records that a person changes an issue now, perhaps between two pages of a poll.
func (c *chaos) person(n int) { c.people[n] = append(c.people[n], c.clock.Now().Unix()) }

func (c *chaos) change(n int) {
	k := c.r.IntN(100)
	switch {
	case c.closed[n] && k < 60:
		c.closed[n] = false
		c.person(n)
		c.do(fmt.Sprintf("reopen %d mona", n))
	case k < 25:
		c.person(n)
		c.do(fmt.Sprintf("comment %d mona More", n))
	case k < 35:
		c.person(n)
		c.do(fmt.Sprintf("edit %d mona %d", n, c.clock.Now().Unix()))
	case k < 45:
		c.person(n)
		c.do(fmt.Sprintf("label %d carol bug", n))
		c.do(fmt.Sprintf("unlabel %d carol bug", n))
	case k < 52 && !c.closed[n]:
		c.closed[n] = true
		c.do(fmt.Sprintf("close %d mona", n))
	case len(c.tasks(n)) > 0:
		// Foreman acts on the issue, because there is a task.
		if !c.acted[n] {
			c.acted[n] = true
			c.do(fmt.Sprintf("acted %d", n))
		}
		c.do(fmt.Sprintf("comment %d %s Thanks", n, bot))
	}
}

// tasks returns the times of an issue's changes that have a task, in order.
func (c *chaos) tasks(n int) []int64 {
	c.Helper()
	c.queue.Break(nil)
	list, err := queue.List(c.Context(), c.queue, queue.Filter{Repo: repo, Issue: n, Limit: 1000})
	if err != nil {
		c.Fatal(err)
	}
	var tasks []int64
	for _, t := range list {
		d, err := c.queue.Inspect(c.Context(), t.ID)
		if err != nil {
			c.Fatal(err)
		}
		tasks = append(tasks, parseSnapshot(d.Message).at)
	}
	slices.Sort(tasks)
	return tasks
}

// check checks all tasks.
func (c *chaos) check() {
	c.Helper()
	for n, people := range c.people {
		tasks, last := c.tasks(n), people[len(people)-1]
		if !c.closed[n] && (len(tasks) == 0 || tasks[len(tasks)-1] < last) {
			c.Errorf("issue %d: what a person did at %s is in no task", n, moment(last).Format(time.TimeOnly))
		}
		before := int64(0)
		for _, at := range tasks {
			if !slices.ContainsFunc(people, func(p int64) bool { return p > before && p <= at }) {
				c.Errorf("issue %d: nobody did anything before the task at %s", n, moment(at).Format(time.TimeOnly))
			}
			before = at
		}
	}
	if c.Failed() {
		for _, line := range c.steps {
			c.Log(line)
		}
	}
}
