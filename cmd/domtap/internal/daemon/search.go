package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/search/provider"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// SearchKeyVariable is the environment variable with the key of a search provider.
const SearchKeyVariable = "DOMTAP_SEARCH_KEY"

// maxKey is the maximum length of a search provider's key, in bytes.
const maxKey = 1000

// Search configures the web search providers. The zero value means none.
type Search struct {
	// Providers lists the names of the providers in order of preference. See provider.Names.
	Providers []string
	// KeyFiles lists files with keys, and URLs lists addresses. An entry NAME=VALUE is for the provider NAME. An entry without a name is
	// for the only provider that needs one.
	KeyFiles, URLs []string
	// Engine is the ID of Google's search engine.
	Engine string
	// Key is the key of the only provider without a key file.
	Key search.Secret
}

// Searcher creates the providers and reads their keys. It returns nil if there are no providers. Errors begin with the invalid setting and
// contain no keys.
func (s Search) Searcher() (*search.Searcher, error) {
	for i, name := range s.Providers {
		if slices.Contains(s.Providers[:i], name) {
			return nil, fmt.Errorf("--search-provider %s is repeated: name each provider once", name)
		}
	}
	files, err := byProvider(s.Providers, s.KeyFiles, provider.NeedsKey)
	if err != nil {
		return nil, fmt.Errorf("--search-key-file %w", err)
	}
	urls, err := byProvider(s.Providers, s.URLs, func(name string) bool { return !provider.NeedsKey(name) || len(s.Providers) == 1 })
	if err != nil {
		return nil, fmt.Errorf("--search-url %w", err)
	}
	var all []search.Provider
	var unfiled []string
	for _, name := range s.Providers {
		cfg := provider.Config{Name: name, URL: urls[name], Engine: s.Engine}
		switch file, ok := files[name]; {
		case ok:
			if cfg.Key, err = readKey(file); err != nil {
				return nil, fmt.Errorf("--search-key-file: %w", err)
			}
		case provider.NeedsKey(name):
			cfg.Key, unfiled = s.Key, append(unfiled, name)
		}
		p, err := provider.New(cfg)
		if err != nil {
			return nil, fmt.Errorf("--search-provider: %w", err)
		}
		all = append(all, p)
	}
	if len(unfiled) > 1 {
		return nil, fmt.Errorf("--search-key-file is missing for one of %s: %s holds only one key", strings.Join(unfiled, ", "), SearchKeyVariable)
	}
	return search.New(all...), nil
}

// byProvider maps providers to the values of a setting. A value without NAME= belongs to the only provider that accepts such a value.
func byProvider(providers, values []string, takes func(name string) bool) (map[string]string, error) {
	out := map[string]string{}
	for _, value := range values {
		name, rest, named := strings.Cut(value, "=")
		if !named || !slices.Contains(provider.Names, name) {
			var takers []string
			for _, p := range providers {
				if takes(p) {
					takers = append(takers, p)
				}
			}
			if len(takers) != 1 {
				return nil, fmt.Errorf("matches no provider or several: write NAME= before it, such as brave=")
			}
			name, rest = takers[0], value
		}
		if !slices.Contains(providers, name) {
			return nil, fmt.Errorf("is for %s, which is not a --search-provider", name)
		}
		if out[name] != "" {
			return nil, fmt.Errorf("is repeated for %s: set it once", name)
		}
		out[name] = rest
	}
	return out, nil
}

// readKey reads the key of a provider from a private file that contains a single word.
func readKey(path string) (search.Secret, error) {
	text, err := listen.ReadPrivate(path)
	if err != nil {
		return search.Secret{}, err
	}
	words := strings.Fields(string(text))
	if len(words) != 1 || len(words[0]) > maxKey || strings.ContainsFunc(words[0], func(r rune) bool { return r < '!' || r > '~' }) {
		return search.Secret{}, fmt.Errorf("%s must hold one key and nothing else", path)
	}
	return search.NewSecret(words[0]), nil
}
