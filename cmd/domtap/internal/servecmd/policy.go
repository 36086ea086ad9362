package servecmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/internal/netpolicy"
)

// PolicyFlag defines --url-policy and returns a function that parses its value.
func PolicyFlag(f *pflag.FlagSet) func() (*netpolicy.Policy, error) {
	text := new(string)
	policyFlag(f, text)
	return func() (*netpolicy.Policy, error) { return readPolicy(*text) }
}

func policyFlag(f *pflag.FlagSet, text *string) {
	f.StringVar(text, "url-policy", "open", "the URLs that tabs may load: open, public (no private or local addresses) or closed, and rules separated by commas: "+
		"allow=HOST, deny=HOST, schemes=https, file=PATH (one rule per line)")
	cli.BindEnv(f, "url-policy")
}

// readPolicy parses the value of the flag and reads its files.
func readPolicy(text string) (*netpolicy.Policy, error) {
	items := strings.Split(text, ",")
	for i, item := range items {
		path, isFile := strings.CutPrefix(strings.TrimSpace(item), "file=")
		if !isFile {
			continue
		}
		lines, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			return nil, fmt.Errorf("read the policy file: %w", err)
		}
		items[i] = "\n" + string(lines) + "\n"
	}
	return netpolicy.Parse(strings.Join(items, ","))
}
