package main

import "github.com/spf13/pflag"

// registerBrowsers defines the flags that say how many browsers there are, and where.
func (s *serveFlags) registerBrowsers(f *pflag.FlagSet) {
	f.IntVar(&s.Browsers.Count, "browsers", 1, "how many browsers to start; sessions are laid on the one with the least to do, and one browser's death costs its own sessions only")
	f.StringArrayVar(&s.Browsers.Remotes, "remote", nil,
		"attach to a running browser at http://HOST:PORT or ws://… instead of starting one; may be repeated, for one browser each")
	alsoEnv(f, "browsers", "remote")
}
