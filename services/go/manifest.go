// Package orch is the Go end of both sides: what its folder offers, for its programs to read.
package orch

import _ "embed" // for the manifest

// Manifest is the folder's manifest.json: what the programs offer, and refuse, is what stands there.
//
//go:embed manifest.json
var Manifest []byte
