import { createHash, timingSafeEqual } from 'node:crypto'

/** Hashes have equal lengths, so the comparison takes the same time for every wrong value. */
export const isSameSecret = (given: string, wanted: string): boolean => timingSafeEqual(digest(given), digest(wanted))
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
