// Command respond answers what the serve line on its stdin says.
package main

import "orch/internal/responder"

func main() { responder.Main() }
