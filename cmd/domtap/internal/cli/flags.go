package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/refs"
)

// Choice is a flag value that accepts one of a few words.
type Choice struct {
	Value   string
	allowed []string
}

func (c *Choice) String() string { return c.Value }

// Type returns the allowed words for the help.
func (c *Choice) Type() string { return strings.Join(c.allowed, "|") }

// Set implements pflag.Value.
func (c *Choice) Set(value string) error {
	value = strings.ToLower(strings.ReplaceAll(value, "-", "_"))
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
	}
	c.Value = value
	return nil
}

// Ref is a flag value that accepts the ref of an element in any notation.
type Ref uint32

func (r *Ref) String() string { return strconv.FormatUint(uint64(*r), 10) }

// Type returns the type name for the help.
func (r *Ref) Type() string { return "REF" }

// Set implements pflag.Value.
func (r *Ref) Set(text string) error {
	ref, ok := refs.Parse(text)
	if !ok {
		return fmt.Errorf("must be a ref as domtap snapshot prints it in brackets: 12")
	}
	*r = Ref(ref)
	return nil
}

// RefFlag defines the flag of a ref. Use Changed of the flag set to find out whether the flag was given, because 0 is a valid ref.
func RefFlag(f *pflag.FlagSet, into *uint32, name, usage string) { f.Var((*Ref)(into), name, usage) }

// ChoiceFlag defines the flag of a Choice with its completion. The first allowed word is the default.
func ChoiceFlag(cmd *cobra.Command, c *Choice, name, short, usage string, allowed ...string) {
	c.Value, c.allowed = allowed[0], allowed
	cmd.Flags().VarP(c, name, short, usage)
	// The only possible error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

// The values of --output.
const (
	outputText = "text"
	outputJSON = "json"
)

// ClientFlags holds the values of the flags that all client commands have.
type ClientFlags struct {
	Tab       string
	Addr      string
	StateDir  string
	TokenFile string
	TLSCA     string
	// ClientCert and ClientKey are paths of files.
	ClientCert, ClientKey string
	Timeout               time.Duration

	output Choice
	json   bool
}

// Register defines the flags that select the daemon and the output format.
func (c *ClientFlags) Register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.Addr, "addr", "", "connect to the daemon at unix:///PATH or HOST:PORT, or to a cluster with the nodes HOST:PORT,HOST:PORT, and start no daemon (default: this user's socket)")
	f.StringVar(&c.TokenFile, "token-file", "", "the file with the bearer token for TCP (default: token in --state-dir, or domtap/token in the configuration directory)")
	f.StringVar(&c.TLSCA, "tls-ca", "", "a PEM file with the authority that signed a remote daemon's certificate (default: the system's authorities)")
	f.StringVar(&c.ClientCert, "tls-client-cert", "", "a PEM file with the client certificate for a remote daemon (--tls-client-ca of domtap serve)")
	f.StringVar(&c.ClientKey, "tls-client-key", "", "a PEM file with the key of the client certificate")
	f.DurationVar(&c.Timeout, "timeout", 30*time.Second, "the time limit of the command; 0 means no limit")
	c.RegisterOutput(cmd)
	StateDirFlag(f, &c.StateDir)
	BindEnv(f, "addr", "token-file", "tls-ca", "tls-client-cert", "tls-client-key", "timeout", "output")
	markCommon(f, "addr", "token-file", "tls-ca", "tls-client-cert", "tls-client-key", "timeout", "output", "json", "state-dir")
}

// RegisterOutput defines the flags that select the output format.
func (c *ClientFlags) RegisterOutput(cmd *cobra.Command) {
	ChoiceFlag(cmd, &c.output, "output", "o", "the output format; json prints one JSON message per line", outputText, outputJSON)
	cmd.Flags().BoolVar(&c.json, "json", false, "the same as --output json")
}

func (c *ClientFlags) wantJSON() bool { return c.json || c.output.Value == outputJSON }

// registerTab defines the flag --tab.
func (c *ClientFlags) registerTab(cmd *cobra.Command, complete cobra.CompletionFunc) {
	cmd.Flags().StringVarP(&c.Tab, "tab", "t", "", "the tab to work on (default: the tab that this terminal opened last, or the only tab)")
	BindEnv(cmd.Flags(), "tab")
	markCommon(cmd.Flags(), "tab")
	_ = cmd.RegisterFlagCompletionFunc("tab", complete) // the flag exists
}

// StateDirFlag defines the flag --state-dir.
func StateDirFlag(f *pflag.FlagSet, dir *string) {
	f.StringVar(dir, "state-dir", "", "the directory of the daemon's log and browser profile, and if set also of its socket and token (default: domtap in $XDG_STATE_HOME or ~/.local/state)")
	BindEnv(f, "state-dir")
}

// EnvAnnotation is the flag annotation that holds the environment variable.
const EnvAnnotation = "domtap_env"

// commonAnnotation marks the flags that all client commands have.
const commonAnnotation = "domtap_common"

func markCommon(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = f.SetAnnotation(name, commonAnnotation, []string{""}) // fails only if the flag does not exist
	}
}

// IsCommon reports whether all client commands have the flag.
func IsCommon(flag *pflag.Flag) bool { return flag.Annotations[commonAnnotation] != nil }

// rareAnnotation marks the flags that the help of a command names but does not describe.
const rareAnnotation = "domtap_rare"

// MarkRare marks flags that the help names but does not describe, except with --help all.
func MarkRare(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = f.SetAnnotation(name, rareAnnotation, []string{""}) // fails only if the flag does not exist
	}
}

// IsRare reports whether the help names the flag but does not describe it.
func IsRare(flag *pflag.Flag) bool { return flag.Annotations[rareAnnotation] != nil }

// MakeOwn turns a common flag into a flag that only its command has, without an environment variable.
func MakeOwn(flag *pflag.Flag, usage, value string) {
	flag.Usage, flag.DefValue = usage, value
	delete(flag.Annotations, EnvAnnotation)
	delete(flag.Annotations, commonAnnotation)
}

// BindEnv binds flags to environment variables and adds the variable to each flag's usage.
func BindEnv(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flag := f.Lookup(name)
		variable := "DOMTAP_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		_ = f.SetAnnotation(name, EnvAnnotation, []string{variable}) // the flag exists
		flag.Usage += " [$" + variable + "]"
	}
}

// FromEnv sets the flags that are missing on the command line from their environment variables. An empty variable counts: DOMTAP_LISTEN=
// turns TCP off. A list is split at white space.
func FromEnv(f *pflag.FlagSet, env endpoint.Lookup) error {
	var failed error
	f.VisitAll(func(flag *pflag.Flag) {
		variable := flag.Annotations[EnvAnnotation]
		if failed != nil || flag.Changed || len(variable) == 0 {
			return
		}
		value, set := env(variable[0])
		if !set {
			return
		}
		if err := setFlag(f, flag, value); err != nil {
			failed = exit.Errorf(exit.Usage, "correct or unset the variable", "invalid environment variable %s=%q: %w", variable[0], value, err)
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

// longestNavigation is the longest navigation timeout that the daemon accepts.
const longestNavigation = 5 * time.Minute

// NavigationTimeout returns --timeout, limited to what the daemon accepts.
func (c *ClientFlags) NavigationTimeout() *durationpb.Duration {
	limit := c.Timeout
	if limit == 0 || limit > longestNavigation {
		limit = longestNavigation
	}
	return durationpb.New(limit)
}

// aliases maps alternative flag names to the flag. They work wherever the flag exists.
var aliases = map[string]string{
	"marks":   "annotate",
	"cdp-url": "remote",
	"times":   "repeat",
}

// NormalizeFlag resolves alternative flag names. It is for cobra's SetGlobalNormalizationFunc.
func NormalizeFlag(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if other, ok := aliases[name]; ok {
		return pflag.NormalizedName(other)
	}
	return pflag.NormalizedName(name)
}
