package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// The bounds of a budget of tokens, as the protos state them; 0 is no limit.
const (
	minBudget = 200
	maxBudget = 50_000
)

// budget is the value of --max-tokens, which is refused before any work begins.
type budget int32

// BudgetFlag registers --max-tokens.
func BudgetFlag(f *pflag.FlagSet, p *int32, value int32, usage string) {
	*p = value
	f.Var((*budget)(p), "max-tokens", usage)
}

func (b *budget) String() string { return strconv.Itoa(int(*b)) }

// Type is shown in the help.
func (b *budget) Type() string { return "int32" }

func (b *budget) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n != 0 && (n < minBudget || n > maxBudget) {
		return fmt.Errorf("must be 0, or %d to %d", minBudget, maxBudget)
	}
	*b = budget(n)
	return nil
}
