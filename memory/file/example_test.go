package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
)

// The record of an issue is a JSON file in the folder.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "memory")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := file.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	_, err = store.Load(ctx, "Octo-Org/hello", 7)
	fmt.Println("no record:", errors.Is(err, memory.ErrNotFound))
	if err := store.Save(ctx, memory.Record{Repo: "Octo-Org/hello", Issue: 7}); err != nil {
		fmt.Println(err)
		return
	}
	_, err = os.Stat(filepath.Join(dir, "octo-org", "hello", "7.json"))
	fmt.Println(err)
	// Output:
	// no record: true
	// <nil>
}
