package client

import (
	"path/filepath"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
)

// Connect starts nothing without a request, and its errors state what to do.
func TestConnectSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("DOMTAP_ADDR", "")
	dir := t.TempDir()
	for name, test := range map[string]struct {
		options Options
		says    string
	}{
		"an address":   {Options{Address: "nowhere"}, "HOST:PORT"},
		"no program":   {Options{StateDir: dir, Start: true}, "set Program"},
		"no authority": {Options{Address: "127.0.0.1:1", TLSCA: filepath.Join(dir, "none")}, "no such file"},
	} {
		if _, err := Connect(t.Context(), test.options); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
	c, err := Connect(t.Context(), Options{StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{}); err == nil {
		t.Error("a daemon answers that nobody started")
	}
}

// Options take precedence over the environment. An address in the environment does not apply to a separate instance.
func TestEnvironmentFillsUnsetOptions(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOMTAP_ADDR", "127.0.0.1:1")
	t.Setenv("DOMTAP_TOKEN_FILE", "/token")
	for _, test := range []struct {
		options Options
		to      endpoint.Target
		token   string
	}{
		{Options{}, endpoint.Target{Address: "127.0.0.1:1"}, "/token"},
		{Options{Address: "unix:///s", TokenFile: "/mine"}, endpoint.Target{Socket: "/s"}, "/mine"},
		{Options{StateDir: dir}, endpoint.Target{Socket: filepath.Join(dir, "domtap.sock")}, "/token"},
	} {
		at, to, err := test.options.find()
		if err != nil || to != test.to || at.Token != test.token {
			t.Errorf("%+v: %v, token %s, %v", test.options, to, at.Token, err)
		}
	}
}

func TestAStepThatFailedIsAnError(t *testing.T) {
	err := error(&StepError{Step: 1, Reason: "NOT_ACTIONABLE", Message: "the button is disabled"})
	if Reason(err) != "NOT_ACTIONABLE" || err.Error() != "step 2: the button is disabled" {
		t.Errorf("%v, %s", err, Reason(err))
	}
}
