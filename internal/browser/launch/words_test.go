//go:build unix

package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestABrowserThatDoesNotStartSaysWhy starts programs that exit before they respond. Start must fail immediately and quote the program's
// last output.
func TestABrowserThatDoesNotStartSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		script, want string
		sandbox      bool
	}{
		"silent":  {"exit 1", "exited without output", false},
		"library": {"echo 'chromium: error while loading shared libraries: libnss3.so' >&2; exit 127", "libnss3.so", false},
		"fatal": {`echo '[1:2:1122/134137.5:FATAL:base/x.cc:1] Check failed: disk full' >&2
			echo '[1:2:1122/134137.5:ERROR:dbus/bus.cc:405] Failed to connect to the bus' >&2; echo '#0 0x55 start' >&2; kill -9 $$`, `printed "Check failed: disk full"`, false},
		"sandbox": {`echo '[9:9:1122/134210.0:ERROR:content/x.cc:130] No usable sandbox! If this is a Debian system, please' >&2; exit 1`, "No usable sandbox!", true},
		"zygote":  {`echo '[9:9:1122/1.0:FATAL:zygote_main.cc:1] Failed to move to new namespace: errno = Operation not permitted' >&2; exit 1`, "not permitted", true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "browser")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // much longer than the start takes, and shorter than a caller waits
			defer cancel()
			_, err := Start(ctx, Config{ChromePath: path, Headless: true, StateDir: t.TempDir()}, nil)
			if err == nil || ctx.Err() != nil {
				t.Fatalf("got %v after %v", err, ctx.Err())
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || errors.Is(err, ErrNoSandbox) != c.sandbox {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestTheLastWordsAreShort(t *testing.T) {
	var o output
	for range 3 * maxOutput / 100 {
		_, _ = o.Write([]byte(strings.Repeat("x", 99) + "\n"))
	}
	_, _ = o.Write([]byte(strings.Repeat("\u00e9", maxWords)))
	if len(o.text) > maxOutput {
		t.Errorf("%d bytes are kept", len(o.text))
	}
	if words := exitReason(o.text); len(words) > maxWords+len("…") || !strings.HasSuffix(words, "é…") {
		t.Errorf("got %q", words)
	}
}
