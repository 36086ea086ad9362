package testenv

// inGroup lists nothing: there are no process groups.
func inGroup(int) []int { return nil }
