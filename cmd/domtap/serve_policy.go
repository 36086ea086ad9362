package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/policy"
)

// registerPolicy defines the flag that says where tabs may go.
func (s *serveFlags) registerPolicy(f *pflag.FlagSet) { policyFlag(f, &s.urlPolicy) }

// policyFlag defines the flag --url-policy.
func policyFlag(f *pflag.FlagSet, text *string) {
	f.StringVar(text, "url-policy", "open", "where tabs may go: open, public (no private or local addresses) or closed, and rules behind commas: "+
		"allow=HOST, deny=HOST, schemes=https, file=PATH (one rule a line)")
	alsoEnv(f, "url-policy")
}

// checkPolicy reads it.
func (s *serveFlags) checkPolicy() (err error) {
	const example = "for example --url-policy public,allow=intranet.example:8443,deny=*.evil.example"
	if s.Policy, err = readPolicy(s.urlPolicy); err == nil {
		err = s.CheckPolicy()
	}
	if err != nil {
		return exit.Errorf(exit.Usage, example, "--url-policy: %w", err)
	}
	return nil
}

// readPolicy reads the value of the flag.
func readPolicy(text string) (*policy.Policy, error) {
	text, err := withFiles(text)
	if err != nil {
		return nil, err
	}
	return policy.Parse(text)
}

// withFiles puts the lines of files in the place of the items that name them.
func withFiles(text string) (string, error) {
	items := strings.Split(text, ",")
	for i, item := range items {
		path, isFile := strings.CutPrefix(strings.TrimSpace(item), "file=")
		if !isFile {
			continue
		}
		lines, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			return "", fmt.Errorf("the file of the policy: %w", err)
		}
		items[i] = "\n" + string(lines) + "\n"
	}
	return strings.Join(items, ","), nil
}
