package cli

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// PageURL returns the address of a live page with the token for its calls. The token is in the fragment, which browsers do not send.
func PageURL(page, token string) string { return page + "#token=" + url.QueryEscape(token) }

// OpenPage opens a page in the browser of this desktop. Other users can see command lines, so OpenPage writes the URL to a private file
// that redirects to the page.
func OpenPage(ctx context.Context, file, page string) error {
	redirect := `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>domtap</title>` +
		`<meta http-equiv="refresh" content="0; url=` + html.EscapeString(page) + `">`
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replace %s: %w", file, err)
	}
	if err := os.WriteFile(file, []byte(redirect), 0o600); err != nil {
		return fmt.Errorf("write the file that redirects to the page: %w", err)
	}
	open := exec.CommandContext(ctx, opener(), file)
	open.WaitDelay = time.Second // a browser started by the command keeps the output open
	if text, err := open.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return exit.Errorf(exit.Failure, "open the address that the command prints without --open", "%s failed to open a browser: %w: %s", opener(), err, text)
	}
	return nil
}

// opener returns the command that opens a file in its default program.
func opener() string {
	if runtime.GOOS == "darwin" {
		return "open"
	}
	return "xdg-open"
}
