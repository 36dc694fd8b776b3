// Command pictures renders the job summaries in a folder in Chromium:
//
//	pictures DIR
//
// For each NAME.markdown it writes NAME.html, the page as GitHub would structure it, and
// NAME.png, which names the SHA-256 of that page. So a test can tell which page a picture
// shows, on a machine without Chromium.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	width    = 960 // of the picture, in CSS pixels
	deadline = 2 * time.Minute
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pictures DIR")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	err := makeAll(ctx, os.Args[1])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// makeAll renders every Markdown file of a folder.
func makeAll(ctx context.Context, dir string) error {
	sources, err := filepath.Glob(filepath.Join(dir, "*.markdown"))
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return fmt.Errorf("%s: no file *.markdown", dir)
	}
	for _, source := range sources {
		if err := makeOne(ctx, source); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
	}
	return nil
}

func makeOne(ctx context.Context, source string) error {
	markdown, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	page, err := render(markdown)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(source, ".markdown")
	if err := os.WriteFile(name+".html", page, 0o644); err != nil {
		return err
	}
	picture, err := shoot(ctx, name+".html")
	if err != nil {
		return fmt.Errorf("make a picture: %w", err)
	}
	picture, err = withSource(picture, page)
	if err != nil {
		return err
	}
	return os.WriteFile(name+".png", picture, 0o644)
}

// shoot returns the PNG of a page.
func shoot(ctx context.Context, page string) ([]byte, error) {
	browser, err := findBrowser()
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(page)
	if err != nil {
		return nil, err
	}
	ctx, stopBrowser := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(deadline))...)
	defer stopBrowser()
	ctx, stop := chromedp.NewContext(ctx)
	defer stop()
	if err := chromedp.Do(ctx,
		chromedp.EmulateViewport(width, 100),
		chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()),
	); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.FullScreenshot(100))
}

func findBrowser() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium: apt-get install chromium fonts-noto-color-emoji")
}
