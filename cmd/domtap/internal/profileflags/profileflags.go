// Package profileflags provides the flags of commands that use login profiles: their location and their key.
package profileflags

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/sessionflags"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/profile"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// Profiles gives access to a user's login profiles, with the key that the flags select.
type Profiles struct {
	a                    *cli.App
	passphrase, identity string
}

// Register defines the flags of the key.
func Register(a *cli.App, cmd *cobra.Command) *Profiles {
	p := &Profiles{a: a}
	f := cmd.Flags()
	f.StringVar(&p.passphrase, "profile-passphrase-file", "", "the file with the passphrase of the profile, mode 0600 (default: $"+endpoint.PassphraseVariable+")")
	f.StringVar(&p.identity, "profile-identity", "", "the file with the age identity of the profile, as age-keygen writes it, mode 0600")
	cli.BindEnv(f, "profile-passphrase-file", "profile-identity")
	return p
}

// Store returns the store of the profiles in the state directory.
func Store(a *cli.App) (profile.Store, error) {
	at, err := a.Places()
	return profile.Store{Dir: filepath.Join(at.State, "profiles")}, err
}

// key reads the key.
func (p *Profiles) key() (profile.Key, error) {
	text, set := p.a.Lookup(endpoint.PassphraseVariable)
	switch {
	case p.passphrase != "" && p.identity != "":
		return profile.Key{}, exit.Errorf(exit.Usage, "", "--profile-passphrase-file and --profile-identity exclude each other")
	case p.identity != "":
		raw, err := read(p.identity)
		if err != nil {
			return profile.Key{}, err
		}
		k, err := profile.Identities(raw)
		if err != nil {
			return k, exit.Errorf(exit.Usage, "create one with age-keygen -o FILE", "%s is no identity file: %w", p.identity, err)
		}
		return k, nil
	case p.passphrase != "":
		raw, err := read(p.passphrase)
		if err != nil {
			return profile.Key{}, err
		}
		text = string(raw)
	case !set:
		return profile.Key{}, exit.Errorf(exit.Usage, "pass --profile-passphrase-file FILE or --profile-identity FILE", "missing key of profiles")
	}
	if text = strings.TrimRight(text, "\r\n"); text == "" {
		return profile.Key{}, exit.Errorf(exit.Usage, "", "the passphrase of profiles is empty")
	}
	k, err := profile.Passphrase(text)
	if err != nil {
		return k, exit.Errorf(exit.Usage, "", "the passphrase of profiles: %w", err)
	}
	return k, nil
}

// read reads a file that must not be readable by other users.
func read(file string) ([]byte, error) {
	raw, err := listen.ReadPrivate(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Errorf(exit.Usage, "check the name of the file", "%w", err)
	}
	if err != nil {
		return nil, exit.Errorf(exit.Denied, "", "%w", err)
	}
	return raw, nil
}

// Load reads the storage state of a profile.
func (p *Profiles) Load(name string) (*domtapv1.StorageState, error) {
	k, err := p.key()
	if err != nil {
		return nil, err
	}
	s, err := Store(p.a)
	if err != nil {
		return nil, err
	}
	raw, err := s.Load(name, k)
	if err != nil {
		return nil, Explain(err)
	}
	state, err := sessionflags.DecodeState(raw)
	if err != nil {
		return nil, exit.Errorf(exit.Failure, "", "the profile %s: %w", name, err)
	}
	return state, nil
}

// Check checks that the profile can be saved, before a state is created.
func (p *Profiles) Check(name string, replace bool) error {
	s, err := Store(p.a)
	if err != nil {
		return err
	}
	if _, err := p.key(); err != nil {
		return err
	}
	return Explain(s.Check(name, replace))
}

// Save writes the storage state of a profile.
func (p *Profiles) Save(name string, state *domtapv1.StorageState, replace bool) error {
	k, err := p.key()
	if err != nil {
		return err
	}
	s, err := Store(p.a)
	if err != nil {
		return err
	}
	raw, err := sessionflags.EncodeState(state)
	if err != nil {
		return err
	}
	return Explain(s.Save(name, raw, k, replace))
}

// Explain adds an exit code and a hint to an error of the store. It returns nil for nil.
func Explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, profile.ErrNotFound):
		return exit.Errorf(exit.NotFound, "run domtap profile list to list the profiles", "%w", err)
	case errors.Is(err, profile.ErrExists):
		return exit.Errorf(exit.Precondition, "update the profile with domtap profile refresh, or replace it with --replace", "%w", err)
	case errors.Is(err, profile.ErrWrongKey):
		return exit.Errorf(exit.Denied, "use the passphrase or the identity that it was saved with", "%w", err)
	case errors.Is(err, profile.ErrDamaged):
		return exit.Errorf(exit.Failure, "delete the profile with domtap profile delete", "%w", err)
	case errors.Is(err, profile.ErrName):
		return exit.Errorf(exit.Usage, "", "%w", err)
	}
	return exit.Errorf(exit.Failure, "", "%w", err)
}

// Complete completes the names of profiles.
func Complete(a *cli.App) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		s, err := Store(a)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		all, err := s.List()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var found []cobra.Completion
		for _, one := range all {
			if strings.HasPrefix(one.Name, prefix) {
				found = append(found, one.Name)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
