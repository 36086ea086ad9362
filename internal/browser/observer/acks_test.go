package observer

import "testing"

// agentOfAcks simulates how an agent uses acknowledgements (60-agent.js): it sends patches until its window is full, until a patch has
// additions, or until it has answered a read.
type agentOfAcks struct {
	sequence, acked, held uint64
	adds                  bool
}

func (a *agentOfAcks) blocked() bool {
	return a.acked < a.held || a.sequence-a.acked >= Window || a.adds
}

func (a *agentOfAcks) take(sequence uint64) {
	if sequence <= a.acked {
		return
	}
	a.acked = sequence
	if sequence == a.sequence {
		a.adds = false
	}
}

// TestNoAgentWaitsForever lets an agent send patches of all kinds and answer reads, in random order. The actor acknowledges each of them,
// so the agent must always be able to continue.
func TestNoAgentWaitsForever(t *testing.T) {
	for seed := range uint64(2000) {
		var a agentOfAcks
		var k Acks
		posted := 0
		for step, dice := range steps(seed) {
			if a.blocked() {
				t.Fatalf("seed %d: the agent is blocked at step %d: %+v, %+v", seed, step, a, k)
			}
			a.sequence++
			sequence := a.sequence
			additions := false
			switch dice {
			case 0: // a read, which carries the pending acknowledgement and is answered with a patch
				a.sequence--
				if taken := k.Taken(nil); taken != nil {
					a.take(taken.Sequence)
				}
				if a.acked < a.sequence {
					t.Fatalf("seed %d: a read at step %d finds patches on their way that the actor has", seed, step)
				}
				a.sequence++
				a.held, sequence = a.sequence, a.sequence
				k.Awaited = true
			case 1:
				a.adds, additions = true, true
			}
			if k.Due(sequence, additions) {
				posted++
				a.take(sequence)
			}
		}
		if seed == 0 && posted > 100/(Window/2) {
			t.Errorf("%d acknowledgements for 100 patches without additions", posted)
		}
	}
}

// steps returns 100 throws of a die; with seed 0 all throws are 5.
func steps(seed uint64) []uint64 {
	all := make([]uint64, 100)
	x := seed
	for i := range all {
		x = x*6364136223846793005 + seed
		if all[i] = x >> 33 % 6; seed == 0 {
			all[i] = 5
		}
	}
	return all
}
