package main

import (
	"strings"
	"testing"
)

func TestDownloadsArePrinted(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	want := `TAB  STATE      BYTES   NAME        FILE
t1   completed  7       report.pdf  /d/report.pdf
t2   canceled   0 of 9  a�[31m.zip  its tab was closed
`
	if got := daemon.at().run(t, "downloads"); got.code != 0 || got.out != want {
		t.Errorf("downloads: %+v", got)
	}
	if got := daemon.at().run(t, "downloads", "-o", "json"); got.code != 0 || strings.Count(got.out, "\n") != 2 {
		t.Errorf("downloads as JSON: %+v", got)
	}
	if got := daemon.at().run(t, "dialog"); got.code != 2 || !strings.Contains(got.errors, "accept") {
		t.Errorf("dialog without an answer: %+v", got)
	}
}
