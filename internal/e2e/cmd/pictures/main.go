// Command pictures renders the texts in a folder in Chromium:
//
//	pictures DIR
//
// NAME.markdown is a job summary, NAME.comment is a comment on an issue, and NAME.ansi is the output of a
// program in a terminal. For each text it writes NAME.html, which looks like GitHub or a terminal, and the
// picture NAME.png. The picture contains the SHA-256 of NAME.html.
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

	"github.com/org/foreman-action/internal/e2e/picture"
)

const (
	width    = 960 // of the picture, in CSS pixels
	scale    = 2   // pixels of the picture in a CSS pixel
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

// renderers maps file extensions to the functions that render a text as a page.
func renderers() map[string]func([]byte) ([]byte, error) {
	return map[string]func([]byte) ([]byte, error){".markdown": renderSummary, ".comment": renderComment, ".ansi": renderTerminal}
}

// makeAll renders every text of a folder.
func makeAll(ctx context.Context, dir string) error {
	made := 0
	for ending, render := range renderers() {
		sources, err := filepath.Glob(filepath.Join(dir, "*"+ending))
		if err != nil {
			return err
		}
		for _, source := range sources {
			if err := makeOne(ctx, source, strings.TrimSuffix(source, ending), render); err != nil {
				return fmt.Errorf("%s: %w", source, err)
			}
			made++
		}
	}
	if made == 0 {
		return fmt.Errorf("%s: no file *.markdown, *.comment or *.ansi", dir)
	}
	return nil
}

// makeOne renders one text to the files name.html and name.png.
func makeOne(ctx context.Context, source, name string, render func([]byte) ([]byte, error)) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	page, err := render(text)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".html", page, 0o644); err != nil {
		return err
	}
	png, err := shoot(ctx, name+".html")
	if err != nil {
		return fmt.Errorf("make a picture: %w", err)
	}
	if png, err = picture.Compact(png); err != nil {
		return err
	}
	png, err = picture.WithSource(png, page)
	if err != nil {
		return err
	}
	return os.WriteFile(name+".png", png, 0o644)
}

// shoot returns a picture of a page as PNG.
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
		chromedp.EmulateViewport(width, 100, chromedp.EmulateScale(scale)),
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
	return "", errors.New("no Chromium is installed: apt-get install chromium fonts-noto-color-emoji")
}
