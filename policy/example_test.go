package policy_test

import (
	"fmt"

	"github.com/org/foreman-action/policy"
)

// The policy of a repository extends that of its organisation, and cannot loosen it.
func ExampleTighten() {
	no, yes := false, true
	organisation := policy.Section{AllowClose: &no, Limits: map[string]int{"add_label": 3}}
	repository := policy.Section{
		AllowClose: &yes,
		Limits:     map[string]int{"add_label": 2},
		Labels:     &policy.Labels{Allow: []string{"kind/*"}},
	}
	p, ignored := policy.Tighten(organisation, repository)
	fmt.Println("close issues:", p.AllowClose)
	fmt.Println("labels per event:", p.Limits["add_label"])
	fmt.Println("label kind/bug:", p.MayLabel("kind/bug"))
	fmt.Println("label security:", p.MayLabel("security"))
	for _, l := range ignored {
		fmt.Println("ignored:", l.Field)
	}
	// Output:
	// close issues: false
	// labels per event: 2
	// label kind/bug: true
	// label security: false
	// ignored: allow_close
}
