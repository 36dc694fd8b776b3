package config_test

import (
	"fmt"

	"github.com/org/foreman-action/config"
)

// All mistakes of a file are reported at once, each at its position.
func ExampleParse() {
	_, err := config.Parse("foreman.yml", []byte(`version: 1
mode: shaddow
policy:
  labels: {alow: [kind/*]}
`), nil)
	fmt.Println(err)
	// Output:
	// foreman.yml:2:7: mode: want apply or shadow, got "shaddow"; did you mean shadow?
	//     mode: shaddow
	//           ^
	// foreman.yml:4:12: unknown key "alow"; did you mean allow? (known: allow, deny)
	//       labels: {alow: [kind/*]}
	//                ^
}
