import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { peer } from '../../toolkit/peer.ts'

/** The files of the package that the page needs; others are not served. */
export const assetNames: ReadonlySet<string> = new Set([
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'oauth2-redirect.html',
  'oauth2-redirect.js',
])

/** The path and the version of the package. */
export interface Assets {
  readonly folder: string
  readonly version: string
}

/**
 * Finds the package without loading it: its code is for browsers.
 *
 * @throws PeerMissingError if it is not installed.
 */
export async function findAssets(): Promise<Assets> {
  const { resolve } = createRequire(import.meta.url)
  const main = await peer('swagger-ui-dist', async () => resolve('swagger-ui-dist'), 'the page of the openapi plugin')
  const folder = dirname(main)
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }
  return { folder, version }
}
