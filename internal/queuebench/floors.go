package main

import (
	"context"
	"os"
	"path/filepath"
)

// fsyncFloor measures how often a second this disk keeps 4 KiB for good.
func fsyncFloor(ctx context.Context, dir string, n int) (sample, error) {
	f, err := os.Create(filepath.Join(dir, "floor"))
	if err != nil {
		return sample{}, err
	}
	defer f.Close()
	block := make([]byte, 4096)
	return each(ctx, 1, n, func(context.Context, int) error {
		if _, err := f.Write(block); err != nil {
			return err
		}
		return f.Sync()
	})
}

// benchAgent is the agent whose tasks are measured.
const benchAgent = "http://agent.example:9001"
