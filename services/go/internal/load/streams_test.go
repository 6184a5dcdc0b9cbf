package load

import "testing"

func TestEventsAreCountedInTheOrderOfTheirReceipt(t *testing.T) {
	// 1, 3, 2 behind it, 3 again, 4; entered in another order than they came.
	once, again, behind := countOf([][2]int64{{50, 4}, {10, 1}, {20, 3}, {30, 2}, {40, 3}})
	if once != 4 || again != 1 || behind != 1 {
		t.Error(once, again, behind)
	}
}
