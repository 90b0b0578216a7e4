// Prints gVisor's file of compiled seccomp filters, from the empty one that is its argument. gVisor's release builds have them; its Go module leaves them out, so
// that each start of a sandbox would compile its filter.
package main

import (
	"fmt"
	"os"
	"strings"

	"gvisor.dev/gvisor/runsc/boot/filter/config"
)

const noPrograms = "programs := make(map[string]precompiledseccomp.Program)\n"

func main() {
	text, err := withPrograms(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}

func withPrograms(path string) (string, error) {
	empty, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	before, after, found := strings.Cut(string(empty), noPrograms)
	if !found {
		return "", fmt.Errorf("%s has no place for programs", path)
	}
	programs, err := config.PrecompiledPrograms()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString(before + noPrograms)
	for _, program := range programs {
		text.WriteString(program.Registration("\t", "precompiledseccomp", "programs"))
	}
	text.WriteString(after)
	return text.String(), nil
}
