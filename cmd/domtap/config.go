package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/settings"
	"github.com/domtap/domtap/internal/endpoint"
)

// origin says where the value of a flag comes from: "the command line", an environment variable, a line of a file, or "default".
type origins map[string]string

const fromDefault = "default"

// configFile is the file with the daemon's settings.
type configFile struct {
	// path is what --config says; required, that somebody named it, so that it has to be there.
	path     string
	required bool
}

// registerConfig defines --config.
func (s *serveFlags) registerConfig(f *pflag.FlagSet) {
	f.StringVar(&s.config, "config", "", "the `FILE` with settings, one NAME = VALUE a line; flags and variables count more (default: domtap/config in the configuration directory, or config in --state-dir)")
	alsoEnv(f, "config")
}

// load gives every flag the value that counts: the command line's, else the environment's, else the file's, else its own.
func (s *serveFlags) load(cmd *cobra.Command, env endpoint.Lookup) (origins, error) {
	f := cmd.Flags()
	from := origins{}
	f.VisitAll(func(flag *pflag.Flag) {
		from[flag.Name] = fromDefault
		if variable := flag.Annotations[envAnnotation]; flag.Changed {
			from[flag.Name] = "the command line"
		} else if len(variable) > 0 {
			if _, set := env(variable[0]); set {
				from[flag.Name] = "$" + variable[0]
			}
		}
	})
	if err := fromEnv(f, env); err != nil {
		return nil, err
	}
	file, err := s.findConfig(env)
	if err != nil {
		return nil, err
	}
	return from, file.apply(f, from)
}

// findConfig says which file counts.
func (s *serveFlags) findConfig(env endpoint.Lookup) (configFile, error) {
	if s.config != "" {
		return configFile{s.config, true}, nil
	}
	if s.Browser.StateDir != "" {
		return configFile{filepath.Join(s.Browser.StateDir, "config"), false}, nil
	}
	at, err := endpoint.FindPlaces(env, "")
	if err != nil {
		return configFile{}, err
	}
	return configFile{filepath.Join(filepath.Dir(at.Token), "config"), false}, nil
}

// apply gives the settings of the file to the flags that nobody has set.
func (c configFile) apply(f *pflag.FlagSet, from origins) error {
	text, err := c.read()
	if err != nil {
		return exit.Errorf(exit.Usage, "name another with --config", "the configuration file: %w", err)
	}
	known := map[string]bool{}
	f.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Name != "config" && flag.Name != "help" && flag.Name != "output" {
			_, known[flag.Name] = flag.Value.(pflag.SliceValue)
		}
	})
	all, err := settings.Parse(text, known)
	if err != nil {
		return exit.Errorf(exit.Usage, "domtap config shows what is in force", "the configuration file %s: %w", c.path, err)
	}
	lists := map[string][]string{}
	for _, s := range all {
		at := fmt.Sprintf("%s:%d", c.path, s.Line)
		if from[s.Name] != fromDefault && lists[s.Name] == nil {
			continue // somebody nearer has set it
		}
		flag := f.Lookup(s.Name)
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			lists[s.Name] = append(lists[s.Name], s.Value)
			flag.Changed = true
			err = list.Replace(lists[s.Name])
		} else {
			err = f.Set(s.Name, s.Value)
		}
		if err != nil {
			return exit.Errorf(exit.Usage, "domtap config shows what is in force", "%s: %s = %q is no good: %w", at, s.Name, s.Value, err)
		}
		from[s.Name] = at
	}
	return nil
}

// read reads the file. One that others could write to would let them choose which program the daemon starts.
func (c configFile) read() ([]byte, error) {
	info, err := os.Stat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !c.required:
		return nil, nil
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", c.path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("others can write to %s: chmod go-w %s", c.path, c.path)
	case info.Size() > settings.MaxBytes:
		return nil, fmt.Errorf("%s has more than %d bytes", c.path, settings.MaxBytes)
	}
	return os.ReadFile(c.path)
}

// inForce is one line of domtap config.
type inForce struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

func configCommand(a *app) *cobra.Command {
	var s serveFlags
	var all bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings that the daemon starts with, and where each comes from",
		Long: `Print the settings that domtap serve would start with here, and where each comes from: the command line,
an environment variable, a line of the configuration file, or the default. It takes the flags of serve.
Without --all it leaves out what is at its default. Secrets in addresses are masked. The output can be
used as a configuration file. It starts nothing, and exits with 2 where a setting is no good.`,
		Example: "  domtap config\n  domtap config --all\n  DOMTAP_MAX_TABS=10 domtap config",
		Args:    cobra.NoArgs,
	}
	s.register(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "also what is at its default")
	choiceFlag(cmd, &a.common.output, "output", "o", "how to print; json: one JSON message per line", outputText, outputJSON)
	cmd.RunE = doing(func(cmd *cobra.Command, _ []string) error {
		from, err := s.load(cmd, a.env)
		if err != nil {
			return err
		}
		if err := s.complete(cmd, a.env); err != nil {
			return err
		}
		return a.printer().settings(cmd.Flags(), from, all)
	})
	return cmd
}

// settings prints the flags of serve.
func (p *printer) settings(f *pflag.FlagSet, from origins, all bool) error {
	var failed error
	f.VisitAll(func(flag *pflag.Flag) {
		own := flag.Hidden || flag.Name == "all" || flag.Name == "config" || flag.Name == "output" || flag.Name == "help"
		if own || failed != nil || !all && from[flag.Name] == fromDefault {
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if failed == nil {
				failed = p.setting(inForce{flag.Name, mask(value), from[flag.Name]})
			}
		}
	})
	return failed
}

func (p *printer) setting(s inForce) error {
	if p.json {
		return p.value(s)
	}
	value := s.Value
	if value != strings.TrimSpace(value) || strings.HasPrefix(value, `"`) || strings.ContainsAny(value, "\n\r") {
		value = fmt.Sprintf("%q", value)
	}
	return p.text(fmt.Sprintf("# %s\n%s = %s\n", s.From, s.Name, value))
}

var (
	passwords = regexp.MustCompile(`//[^/@\s]+@`)
	queries   = regexp.MustCompile(`(://[^?\s]*)\?\S+`)
)

// mask takes out what only the owner of an address should know: the name and password in it, and its query.
func mask(value string) string {
	return queries.ReplaceAllString(passwords.ReplaceAllString(value, "//***@"), "$1?***")
}
