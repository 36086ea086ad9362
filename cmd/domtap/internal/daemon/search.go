package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/search/provider"
	"github.com/domtap/domtap/internal/server/listen"
)

// SearchKeyVariable is the environment variable with the key of a search provider.
const SearchKeyVariable = "DOMTAP_SEARCH_KEY"

// maxKey is the longest key of a search provider, in bytes.
const maxKey = 1000

// Search is which providers search the web. The zero value is none.
type Search struct {
	// Providers are the names, the preferred ones first; see provider.Names.
	Providers []string
	// KeyFiles are the files with keys, and URLs are addresses: each is for the only provider that needs one, or after
	// NAME= for the provider of that name.
	KeyFiles, URLs []string
	// Engine is the id of Google's search engine.
	Engine string
	// Key is the key of the only provider that has no file.
	Key search.Secret
}

// Searcher makes the providers, and reads their keys; nil if there are none. Errors begin with the setting that is
// wrong, and have no keys.
func (s Search) Searcher() (*search.Searcher, error) {
	for i, name := range s.Providers {
		if slices.Contains(s.Providers[:i], name) {
			return nil, fmt.Errorf("--search-provider %s is there twice", name)
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
		return nil, fmt.Errorf("--search-key-file is missing for one of %s: %s is one key", strings.Join(unfiled, ", "), SearchKeyVariable)
	}
	return search.New(all...), nil
}

// byProvider returns the values of a setting by provider. A value without NAME= is for the only provider that takes one.
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
				return nil, fmt.Errorf("is for none or for several of the providers: write NAME=, such as brave=, before it")
			}
			name, rest = takers[0], value
		}
		if !slices.Contains(providers, name) {
			return nil, fmt.Errorf("is for %s, which is not a --search-provider", name)
		}
		if out[name] != "" {
			return nil, fmt.Errorf("is there twice for %s", name)
		}
		out[name] = rest
	}
	return out, nil
}

// readKey reads the key of a provider: the only word of a file that nobody else may read.
func readKey(path string) (search.Secret, error) {
	text, err := listen.ReadPrivate(path)
	if err != nil {
		return search.Secret{}, err
	}
	words := strings.Fields(string(text))
	if len(words) != 1 || len(words[0]) > maxKey || strings.ContainsFunc(words[0], func(r rune) bool { return r < '!' || r > '~' }) {
		return search.Secret{}, fmt.Errorf("%s does not hold one key, and nothing else", path)
	}
	return search.NewSecret(words[0]), nil
}
