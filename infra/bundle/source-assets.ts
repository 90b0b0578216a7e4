import type { DeploymentAssets } from '../assets.ts'
import { FUNCTION_ENTRIES } from '../function-name.ts'
import { functionCode } from './function-code.ts'
import { uploadImageContext } from './upload-image.ts'

/** Bundles functions and the upload service from the sources of this checkout. */
export const sourceAssets = (parts: Pick<DeploymentAssets, 'images' | 'siteFolder'>): DeploymentAssets => ({
  ...parts,
  functionCode: (name, toolsFolder) => functionCode(FUNCTION_ENTRIES[name], toolsFolder),
  uploadContext: uploadImageContext,
})
