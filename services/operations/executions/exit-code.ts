import { constants } from 'node:os'

const SIGNALLED = 128
const numbers = new Map<string, number>(Object.entries(constants.signals))

/** The exit code that a shell reports for a program that a signal ended: programs tell 137 and 143 apart. */
export const codeOfSignal = (signal: string): number => SIGNALLED + (numbers.get(signal) ?? 0)
