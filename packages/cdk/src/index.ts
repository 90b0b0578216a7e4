import type { Construct } from 'constructs'
import type * as z from 'zod'
import { Cellblock as CellblockDeployment } from '../../../infra/cellblock.ts'
import { readConfig, type Config } from '../../../infra/config.ts'
import type * as declared from './declarations.d.ts'
import { packagedAssets, readManifest } from './packaged-assets.ts'

/** The declared settings are settings that the schema accepts: a difference is an error of the compiler. */
const accepted = (settings: declared.CellblockSettings): z.input<typeof Config> => settings

/** `declarations.d.ts` documents the class. */
export class Cellblock extends CellblockDeployment {
  constructor(scope: Construct, id: string, { settings, ...props }: declared.CellblockProps) {
    const { toolTypes } = readManifest()
    const { tools } = readConfig(accepted(settings))
    super(scope, id, { ...props, settings, assets: packagedAssets, toolTypes: tools.webSearch ? toolTypes.webSearch : toolTypes.plain })
  }
}
