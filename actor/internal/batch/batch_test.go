package batch_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/domtap/domtap/actor/internal/batch"
)

func TestCallsShareATurnUntilItBegins(t *testing.T) {
	var calls batch.Calls[int, string]
	first, leads := calls.Join(1)
	if !leads {
		t.Fatal("the first call does not lead its turn")
	}
	if second, leads := calls.Join(2); second != first || leads {
		t.Error("the second call has a turn of its own")
	}
	if asks := calls.Begin(first); !slices.Equal(asks, []int{1, 2}) {
		t.Errorf("the turn is for %v", asks)
	}
	late, leads := calls.Join(3)
	if late == first || !leads {
		t.Error("a call joined a turn that had begun")
	}
	calls.Finish(first, "answer", nil)
	<-first.Done()
	if answer, err := first.Result(); answer != "answer" || err != nil {
		t.Errorf("the result is %q, %v", answer, err)
	}
	if asks := calls.Begin(late); !slices.Equal(asks, []int{3}) {
		t.Errorf("the next turn is for %v", asks)
	}
}

func TestATurnThatNeverBeginsEndsForAll(t *testing.T) {
	var calls batch.Calls[int, string]
	turn, _ := calls.Join(1)
	calls.Join(2)
	full := errors.New("the mailbox is full")
	calls.Finish(turn, "", full)
	<-turn.Done()
	if _, err := turn.Result(); !errors.Is(err, full) {
		t.Errorf("the error is %v", err)
	}
	if _, leads := calls.Join(3); !leads {
		t.Error("a call joined a turn that was over")
	}
}
