package servecmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/settings"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/lazyregexp"
)

// origins maps each flag to the source of its value: "the command line", a variable such as "$DOMTAP_LISTEN", a line such as
// "/etc/domtap/config:4", or "default".
type origins map[string]string

const fromDefault = "default"

// load sets every flag from its first source: the command line, the environment, the configuration file, or the default.
func (s *Flags) load(cmd *cobra.Command, env endpoint.Lookup) (origins, error) {
	f := cmd.Flags()
	from := origins{}
	f.VisitAll(func(flag *pflag.Flag) {
		from[flag.Name] = fromDefault
		if variable := flag.Annotations[cli.EnvAnnotation]; flag.Changed {
			from[flag.Name] = "the command line"
		} else if len(variable) > 0 {
			if _, set := env(variable[0]); set {
				from[flag.Name] = "$" + variable[0]
			}
		}
	})
	if err := cli.FromEnv(f, env); err != nil {
		return nil, err
	}
	file, err := s.configFile(env)
	if err != nil {
		return nil, err
	}
	return from, file.apply(f, from)
}

// configFile is the configuration file of the daemon.
type configFile struct {
	path string
	// required means that the user named the file, so it must exist.
	required bool
}

// configFile finds the file: --config, otherwise the file in --state-dir or in the configuration directory.
func (s *Flags) configFile(env endpoint.Lookup) (configFile, error) {
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

// notSettings lists the flags of serve and config that are not settings: no file sets them, and config does not print them.
var notSettings = []string{"all", "config", "help", "json", "output"}

// isSetting reports whether a flag is a setting of the daemon.
func isSetting(flag *pflag.Flag) bool {
	return !flag.Hidden && !slices.Contains(notSettings, flag.Name)
}

// apply sets the flags that still have their default from the settings of the file.
func (c configFile) apply(f *pflag.FlagSet, from origins) error {
	text, err := c.read()
	if err != nil {
		return exit.Errorf(exit.Usage, "name another file with --config", "read the configuration file: %w", err)
	}
	known := map[string]bool{}
	f.VisitAll(func(flag *pflag.Flag) {
		if isSetting(flag) {
			_, known[flag.Name] = flag.Value.(pflag.SliceValue)
		}
	})
	all, err := settings.Parse(text, known)
	if err != nil {
		return exit.Errorf(exit.Usage, "run domtap config to print the settings in force", "the configuration file %s: %w", c.path, err)
	}
	lists := map[string][]string{}
	for _, s := range all {
		at := fmt.Sprintf("%s:%d", c.path, s.Line)
		if from[s.Name] != fromDefault && lists[s.Name] == nil {
			continue // set by a source with higher precedence
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
			return exit.Errorf(exit.Usage, "run domtap config to print the settings in force", "%s: invalid %s %q: %w", at, s.Name, s.Value, err)
		}
		from[s.Name] = at
	}
	return nil
}

// read reads the file. It rejects a file that other users can write to, because the file names the program that the daemon starts.
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

// setting is the JSON output of domtap config for one value.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// Config returns the command config.
func Config(a *cli.App) *cobra.Command {
	var s Flags
	var all bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the daemon's settings and their origins",
		Long: `Print the settings that domtap serve would start with here, and the origin of each: the command line, an
environment variable, a line of the configuration file, or the default. The command accepts the flags of
domtap serve. Settings at their defaults are omitted, unless you pass --all. Secrets in addresses are masked.
You can use the output as a configuration file. The command starts nothing. The exit code is 2 if a setting is
invalid.`,
		Example: "  domtap config\n  domtap config --all\n  DOMTAP_MAX_TABS=10 domtap config",
		Args:    cli.Args(),
	}
	s.Register(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "also print settings at their defaults")
	a.Flags.RegisterOutput(cmd)
	cmd.RunE = cli.Work(func(cmd *cobra.Command, _ []string) error {
		from, err := s.load(cmd, a.Lookup)
		if err != nil {
			return err
		}
		if err := s.complete(cmd, a.Lookup); err != nil {
			return err
		}
		return printSettings(a.Printer(), cmd.Flags(), from, all)
	})
	return cmd
}

// printSettings prints the settings in the form of a configuration file, or as JSON.
func printSettings(p *cli.Printer, f *pflag.FlagSet, from origins, all bool) error {
	var failed error
	printed := false
	f.VisitAll(func(flag *pflag.Flag) {
		if failed != nil || !isSetting(flag) || !all && from[flag.Name] == fromDefault {
			return
		}
		values := []string{flag.Value.String()}
		list, repeats := flag.Value.(pflag.SliceValue)
		if repeats {
			values = list.GetSlice()
		}
		for i := range values {
			values[i] = mask(values[i])
		}
		if len(values) > 0 {
			failed, printed = printSetting(p, flag.Name, from[flag.Name], repeats, values), true
		}
	})
	if !printed && !p.JSON {
		return p.Text("# All settings are at their defaults: domtap config --all prints them\n")
	}
	return failed
}

func printSetting(p *cli.Printer, name, from string, repeats bool, values []string) error {
	if !p.JSON {
		lines, err := settings.Format(name, repeats, values...)
		if err != nil {
			return err
		}
		return p.Text("# " + from + "\n" + lines)
	}
	for _, value := range values {
		if err := p.ShowValue(setting{name, value, from}, ""); err != nil {
			return err
		}
	}
	return nil
}

var (
	passwords = lazyregexp.New(`//[^/@\s]+@`)
	queries   = lazyregexp.New(`(://[^?\s]*)\?\S+`)
)

// mask replaces the secrets in an address: user name, password and query.
func mask(value string) string {
	return queries().ReplaceAllString(passwords().ReplaceAllString(value, "//***@"), "$1?***")
}
