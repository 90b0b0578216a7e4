/** How long a message is hidden after its handler failed, seconds: 1, 2, 4 … 60. */
export const redeliveryDelay = (receives: number): number => Math.min(60, 2 ** (receives - 1))
