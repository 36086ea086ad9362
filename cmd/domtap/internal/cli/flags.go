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

// Choice is the value of a flag that takes one of a few words.
type Choice struct {
	Value   string
	allowed []string
}

func (c *Choice) String() string { return c.Value }

// Type is what the help shows for the value.
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

// Ref is the value of a flag that takes the ref of an element, in any of its notations.
type Ref uint32

func (r *Ref) String() string { return strconv.FormatUint(uint64(*r), 10) }

// Type is what the help shows for the value.
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

// RefFlag defines the flag of a ref. Whether it was given is for Changed of the flag set: 0 is a ref, too.
func RefFlag(f *pflag.FlagSet, into *uint32, name, usage string) { f.Var((*Ref)(into), name, usage) }

// ChoiceFlag defines the flag of a Choice with its completion. The first allowed word is the default.
func ChoiceFlag(cmd *cobra.Command, c *Choice, name, short, usage string, allowed ...string) {
	c.Value, c.allowed = allowed[0], allowed
	cmd.Flags().VarP(c, name, short, usage)
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

// The words of --output.
const (
	outputText = "text"
	outputJSON = "json"
)

// ClientFlags are the values of the flags of every client command.
type ClientFlags struct {
	Tab       string
	Addr      string
	StateDir  string
	TokenFile string
	TLSCA     string
	// ClientCert and ClientKey are files.
	ClientCert, ClientKey string
	Timeout               time.Duration

	output Choice
	json   bool
}

// Register defines the flags that say which daemon to use and how to print.
func (c *ClientFlags) Register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.Addr, "addr", "", "connect to the daemon at unix:///PATH or HOST:PORT, or to one of the nodes HOST:PORT,HOST:PORT of a cluster, and do not start one (default: this user's socket)")
	f.StringVar(&c.TokenFile, "token-file", "", "the file with the bearer token, used over TCP (default: token in the state directory)")
	f.StringVar(&c.TLSCA, "tls-ca", "", "a PEM file with the authority that signed a remote daemon's certificate (default: those of the system)")
	f.StringVar(&c.ClientCert, "tls-client-cert", "", "a PEM file with the client certificate for a remote daemon (--tls-client-ca of domtap serve)")
	f.StringVar(&c.ClientKey, "tls-client-key", "", "a PEM file with the key of the client certificate")
	f.DurationVar(&c.Timeout, "timeout", 30*time.Second, "how long the command may take; 0: no limit")
	c.RegisterOutput(cmd)
	StateDirFlag(f, &c.StateDir)
	BindEnv(f, "addr", "token-file", "tls-ca", "tls-client-cert", "tls-client-key", "timeout", "output")
	markCommon(f, "addr", "token-file", "tls-ca", "tls-client-cert", "tls-client-key", "timeout", "output", "json", "state-dir")
}

// RegisterOutput defines the flags that say how to print.
func (c *ClientFlags) RegisterOutput(cmd *cobra.Command) {
	ChoiceFlag(cmd, &c.output, "output", "o", "how to print; json: one JSON message per line", outputText, outputJSON)
	cmd.Flags().BoolVar(&c.json, "json", false, "the same as --output json")
}

func (c *ClientFlags) wantJSON() bool { return c.json || c.output.Value == outputJSON }

// registerTab defines --tab.
func (c *ClientFlags) registerTab(cmd *cobra.Command, complete cobra.CompletionFunc) {
	cmd.Flags().StringVarP(&c.Tab, "tab", "t", "", "the tab to work on (default: the tab that this terminal opened last, or the only one)")
	BindEnv(cmd.Flags(), "tab")
	markCommon(cmd.Flags(), "tab")
	_ = cmd.RegisterFlagCompletionFunc("tab", complete) // the flag exists
}

// StateDirFlag defines --state-dir.
func StateDirFlag(f *pflag.FlagSet, dir *string) {
	f.StringVar(dir, "state-dir", "", "where the daemon keeps token, log and browser profile (default: domtap under $XDG_STATE_HOME or ~/.local/state)")
	BindEnv(f, "state-dir")
}

// EnvAnnotation is the annotation of a flag that holds its environment variable.
const EnvAnnotation = "domtap_env"

// commonAnnotation marks the flags that all client commands have.
const commonAnnotation = "domtap_common"

func markCommon(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = f.SetAnnotation(name, commonAnnotation, []string{""}) // the only error is a flag that does not exist
	}
}

// IsCommon reports whether all client commands have a flag.
func IsCommon(flag *pflag.Flag) bool { return flag.Annotations[commonAnnotation] != nil }

// rareAnnotation marks the flags that the help of a command only names.
const rareAnnotation = "domtap_rare"

// MarkRare has the help of a command only name some flags, unless it is asked for all.
func MarkRare(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = f.SetAnnotation(name, rareAnnotation, []string{""}) // the only error is a flag that does not exist
	}
}

// IsRare reports whether the help of a command only names a flag.
func IsRare(flag *pflag.Flag) bool { return flag.Annotations[rareAnnotation] != nil }

// MakeOwn makes a flag of all client commands one of its command alone, which no variable sets.
func MakeOwn(flag *pflag.Flag, usage, value string) {
	flag.Usage, flag.DefValue = usage, value
	delete(flag.Annotations, EnvAnnotation)
	delete(flag.Annotations, commonAnnotation)
}

// BindEnv lets an environment variable set a flag, and adds the variable to the flag's usage.
func BindEnv(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flag := f.Lookup(name)
		variable := "DOMTAP_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		_ = f.SetAnnotation(name, EnvAnnotation, []string{variable}) // the flag exists
		flag.Usage += " [$" + variable + "]"
	}
}

// FromEnv sets the flags that the command line did not set from their environment variables. An
// empty variable counts: DOMTAP_LISTEN= turns TCP off. A list is split at white space.
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

// longestNavigation is the longest timeout of a navigation that the daemon accepts.
const longestNavigation = 5 * time.Minute

// NavigationTimeout is --timeout as the daemon gets it.
func (c *ClientFlags) NavigationTimeout() *durationpb.Duration {
	limit := c.Timeout
	if limit == 0 || limit > longestNavigation {
		limit = longestNavigation
	}
	return durationpb.New(limit)
}

// aliases are second names of flags. They work wherever the flag exists.
var aliases = map[string]string{
	"marks":   "annotate",
	"cdp-url": "remote",
	"times":   "repeat",
}

// NormalizeFlag lets a flag be given by its second name. It is for cobra's
// SetGlobalNormalizationFunc.
func NormalizeFlag(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if other, ok := aliases[name]; ok {
		return pflag.NormalizedName(other)
	}
	return pflag.NormalizedName(name)
}
