/** Minimum run time of the cell that outlives an upgrade, seconds. */
export const upgradeCellSeconds = Number(process.env['CELLBLOCK_UPGRADE_CELL_SECONDS'] ?? 0)
