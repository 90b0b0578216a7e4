/** Minimum run time of the cell that outlives an upgrade, seconds. */
export const upgradeCellSeconds = Number(process.env['CELLBLOCK_UPGRADE_CELL_SECONDS'] ?? 0)

/** Whether calls that take minutes in real time are made too. */
export const hasLongCalls = process.env['CELLBLOCK_LONG_CALLS'] === '1'
