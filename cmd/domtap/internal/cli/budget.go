package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// The limits of a token budget, as the protos define them. 0 means no limit.
const (
	minBudget = 200
	maxBudget = 50_000
)

// budget is the value of --max-tokens. Invalid values are rejected before any work starts.
type budget int32

// BudgetFlag registers --max-tokens.
func BudgetFlag(f *pflag.FlagSet, p *int32, value int32, usage string) {
	*p = value
	f.Var((*budget)(p), "max-tokens", usage)
}

func (b *budget) String() string { return strconv.Itoa(int(*b)) }

// Type returns the type name for the help.
func (b *budget) Type() string { return "int32" }

func (b *budget) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n != 0 && (n < minBudget || n > maxBudget) {
		return fmt.Errorf("must be 0, or %d to %d", minBudget, maxBudget)
	}
	*b = budget(n)
	return nil
}
