package load

import "time"

// graceS is how long what is still under way has to arrive: ten times what a connection took for a request, from 5 to 100 ms.
func graceS(spanS float64, requests, concurrency int64) float64 {
	return min(max(10*spanS*float64(concurrency)/float64(max(requests, 1)), 0.005), 0.1)
}

func sleep(seconds float64) { time.Sleep(time.Duration(seconds * float64(time.Second))) }
