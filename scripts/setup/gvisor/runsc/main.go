// gVisor's runsc, whose first garbage collection comes later: restoring a sandbox fills the heap of its kernel from nothing, and without this, Go collects it
// meanwhile on the processors of the sandbox (docs/adr/0089-a-faster-resumption-on-gvisor.md).
package main

import (
	"runtime"
	"runtime/debug"
	"time"

	"gvisor.dev/gvisor/runsc/cli/maincli"
)

const (
	// The first collection comes at 32 MB instead of Go's 4 MB (https://pkg.go.dev/runtime, GOGC), and ends this.
	percentBeforeFirst = 800
	// Go collects an idle program every two minutes, but not before its first collection. This one also returns the memory to the host.
	untilFirst = 2 * time.Minute
)

func main() {
	percent := debug.SetGCPercent(percentBeforeFirst)
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, percent)
	time.AfterFunc(untilFirst, debug.FreeOSMemory)
	maincli.Main()
}
