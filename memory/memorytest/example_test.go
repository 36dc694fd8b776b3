package memorytest_test

import (
	"testing"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/memory/memorytest"
)

// The tests of a store of your own. The function opens an empty store for each test.
func ExampleRun() {
	test := func(t *testing.T) {
		memorytest.Run(t, func(t *testing.T) memory.Store {
			store, err := file.Open(t.TempDir()) // here: your store
			if err != nil {
				t.Fatal(err)
			}
			return store
		})
	}
	_ = test
	// Output:
}
