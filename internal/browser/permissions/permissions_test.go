package permissions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"

	"github.com/domtap/domtap/internal/browser/clipboard"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// recorder records the commands that are run, as "name=setting".
type recorder struct {
	runs [][]string
	err  error
}

func (r *recorder) Run(_ context.Context, steps ...devtools.Step) error {
	var run []string
	for _, s := range steps {
		switch p := s.Params.(type) {
		case cdpbrowser.ResetPermissionsParams:
			run = append(run, "reset")
		case cdpbrowser.SetPermissionParams:
			run = append(run, fmt.Sprintf("%s=%s", p.Permission.Name, p.Setting))
		}
	}
	r.runs = append(r.runs, run)
	return r.err
}

// gate is a clipboard that allows or denies reading.
type gate struct{ mayRead bool }

func (g gate) Grant(_ context.Context, _, _ bool, set func(func() bool) error) error {
	return set(func() bool { return g.mayRead })
}

func TestPermissionsAreSetAfterAReset(t *testing.T) {
	var r recorder
	p := New(&r, gate{mayRead: true}, "C", false)
	if err := p.Set(t.Context(), []string{clipboard.Read, "geolocation"}, []string{"push"}); err != nil {
		t.Fatal(err)
	}
	want := []string{"reset", "push=denied", "clipboard-read=granted", "geolocation=granted"}
	if len(r.runs) != 1 || !slices.Equal(r.runs[0], want) {
		t.Errorf("ran %v, want %v", r.runs, want)
	}
}

func TestTheClipboardIsReadWhenItsTurnComes(t *testing.T) {
	var r recorder
	if err := New(&r, gate{}, "", false).Set(t.Context(), []string{clipboard.Read}, []string{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"reset", "clipboard-read=denied"}; !slices.Equal(r.runs[0], want) {
		t.Errorf("ran %v, want %v", r.runs[0], want)
	}
}

func TestTheShellIsToldWhatChromiumGrantsUnasked(t *testing.T) {
	var r recorder
	if err := New(&r, gate{}, "", true).Set(t.Context(), []string{"geolocation"}, []string{"push"}); err != nil {
		t.Fatal(err)
	}
	got := r.runs[0]
	if !slices.Contains(got, "clipboard-write=granted") || !slices.Contains(got, "screen-wake-lock=granted") {
		t.Errorf("ran %v", got)
	}
	if first, last := got[1], got[len(got)-1]; first != "push=denied" || last != "geolocation=granted" {
		t.Errorf("ran %v first and %v last", first, last)
	}
}

func TestTheSamePermissionsAreSetOnce(t *testing.T) {
	var r recorder
	p := New(&r, gate{}, "", false)
	set := func(granted ...string) {
		t.Helper()
		if err := p.Set(t.Context(), granted, []string{"push"}); err != nil {
			t.Fatal(err)
		}
	}
	set()
	set()
	set("geolocation")
	set("geolocation")
	if len(r.runs) != 2 {
		t.Errorf("ran commands %d times, want 2: %v", len(r.runs), r.runs)
	}
}

func TestWhatFailedIsSetAgain(t *testing.T) {
	r := recorder{err: errors.New("the browser is gone")}
	p := New(&r, gate{}, "", false)
	for range 2 {
		if err := p.Set(t.Context(), nil, []string{"push"}); !errors.Is(err, r.err) {
			t.Errorf("got %v", err)
		}
	}
	if len(r.runs) != 2 {
		t.Errorf("ran commands %d times, want 2", len(r.runs))
	}
}
