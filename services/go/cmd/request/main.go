// Command request makes the trial that stands on its stdin.
package main

import "orch/internal/requester"

func main() { requester.Main() }
