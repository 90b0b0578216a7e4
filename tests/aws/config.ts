/** How long the cell that outlives an upgrade runs at least, seconds: as long as it takes, unless somebody wants to see minutes. */
export const upgradeCellSeconds = Number(process.env['CELLBLOCK_UPGRADE_CELL_SECONDS'] ?? 0)
