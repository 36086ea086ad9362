package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
)

// choice is the value of a flag that takes one of a few words.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.allowed, "|") }

// Set is called by pflag.
func (c *choice) Set(value string) error {
	value = strings.ToLower(strings.ReplaceAll(value, "-", "_"))
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

// choiceFlag defines a choice with its completion. The first of allowed is the default.
func choiceFlag(cmd *cobra.Command, c *choice, name, short, usage string, allowed ...string) {
	c.value, c.allowed = allowed[0], allowed
	cmd.Flags().VarP(c, name, short, usage)
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

// The words of -o.
const (
	outputText = "text"
	outputJSON = "json"
)

// commonFlags are the flags of every client command.
type commonFlags struct {
	tab       string
	addr      string
	stateDir  string
	tokenFile string
	tlsCA     string
	// clientCert and clientKey are files.
	clientCert, clientKey string
	timeout               time.Duration
	output                choice
}

// register defines the flags that say which daemon to talk to and how to print.
func (c *commonFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.addr, "addr", "", "the daemon, which is not started there: unix:///PATH or HOST:PORT (default: this user's socket, where it is)")
	f.StringVar(&c.tokenFile, "token-file", "", "the file with the bearer token, used over TCP (default: token in the state directory)")
	f.StringVar(&c.tlsCA, "tls-ca", "", "a PEM file with the authority that signed a remote daemon's certificate (default: those of the system)")
	f.StringVar(&c.clientCert, "tls-client-cert", "", "a PEM file with a certificate to present to a remote daemon (--tls-client-ca)")
	f.StringVar(&c.clientKey, "tls-client-key", "", "a PEM file with its key")
	f.DurationVar(&c.timeout, "timeout", 30*time.Second, "how long the command may take; 0: no limit")
	choiceFlag(cmd, &c.output, "output", "o", "how to print; json: one JSON message per line", outputText, outputJSON)
	stateDirFlag(f, &c.stateDir)
	alsoEnv(f, "addr", "token-file", "tls-ca", "tls-client-cert", "tls-client-key", "timeout", "output")
	markCommon(f, "addr", "token-file", "tls-ca", "tls-client-cert", "tls-client-key", "timeout", "output", "state-dir")
}

// registerTab defines --tab.
func (c *commonFlags) registerTab(cmd *cobra.Command, complete cobra.CompletionFunc) {
	cmd.Flags().StringVarP(&c.tab, "tab", "t", "", "the tab to work on (default: the one that this terminal opened last, or the only one)")
	alsoEnv(cmd.Flags(), "tab")
	markCommon(cmd.Flags(), "tab")
	_ = cmd.RegisterFlagCompletionFunc("tab", complete)
}

func stateDirFlag(f *pflag.FlagSet, dir *string) {
	f.StringVar(dir, "state-dir", "", "where the daemon keeps token, log and browser profile (default: domtap under $XDG_STATE_HOME or ~/.local/state)")
	alsoEnv(f, "state-dir")
}

// The annotations of flags: the environment variable, and being common to the client commands.
const (
	envAnnotation    = "domtap_env"
	commonAnnotation = "domtap_common"
)

func markCommon(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = f.SetAnnotation(name, commonAnnotation, []string{""}) // the only error is a flag that does not exist
	}
}

// alsoEnv marks flags that can be set by an environment variable, and says so in their usage.
func alsoEnv(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flag := f.Lookup(name)
		variable := "DOMTAP_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		_ = f.SetAnnotation(name, envAnnotation, []string{variable}) // the flag exists
		flag.Usage += " [$" + variable + "]"
	}
}

// fromEnv gives the marked flags that the command line left alone the values of their variables. An
// empty variable counts: DOMTAP_LISTEN= switches TCP off. A list is split at white space.
func fromEnv(f *pflag.FlagSet, env endpoint.Lookup) error {
	var failed error
	f.VisitAll(func(flag *pflag.Flag) {
		variable := flag.Annotations[envAnnotation]
		if failed != nil || flag.Changed || len(variable) == 0 {
			return
		}
		value, set := env(variable[0])
		if !set {
			return
		}
		if err := setFlag(f, flag, value); err != nil {
			failed = exit.Errorf(exit.Usage, "correct or unset the variable", "the environment variable %s=%q is no good: %w", variable[0], value, err)
		}
	})
	return failed
}

func setFlag(f *pflag.FlagSet, flag *pflag.Flag, value string) error {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		flag.Changed = true
		return list.Replace(strings.Fields(value))
	}
	return f.Set(flag.Name, value)
}
