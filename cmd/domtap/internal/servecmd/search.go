package servecmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/daemon"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/search"
)

// readSecrets reads the secrets that come only from the environment or a file: the key of a search provider, and the headers for remote
// browsers.
func (s *Flags) readSecrets(env endpoint.Lookup) {
	headers, _ := env(daemon.RemoteHeadersVariable)
	s.Browsers.RemoteHeaders = search.NewSecret(headers)
	key, _ := env(daemon.SearchKeyVariable)
	s.Search.Key = search.NewSecret(strings.TrimSpace(key))
}

// Searcher returns the search providers of a new daemon, from the environment and the configuration file. It returns
// nil if there are none. stateDir is the value of --state-dir; if empty, the environment determines the directory.
func Searcher(env endpoint.Lookup, stateDir string) (*search.Searcher, error) {
	var s Flags
	cmd := &cobra.Command{Use: "serve"}
	s.Register(cmd)
	if stateDir != "" {
		if err := cmd.Flags().Set("state-dir", stateDir); err != nil {
			return nil, err
		}
	}
	if _, err := s.load(cmd, env); err != nil {
		return nil, err
	}
	s.readSecrets(env)
	return s.Search.Searcher()
}
