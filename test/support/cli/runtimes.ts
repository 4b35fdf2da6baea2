import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { runtimeBinary } from '../../runtimes/run.mjs'

/** A folder where Bun and Deno have the names that people type, and a path that begins with it. */
export function makeBin(): { readonly path: string; remove(): void } {
  const bin = mkdtempSync(join(tmpdir(), 'framework-bin-'))
  for (const name of ['bun', 'deno']) {
    const binary = runtimeBinary(name)
    if (binary === undefined) throw new Error(`${name} is not installed: npm ci --prefix test/runtimes`)
    symlinkSync(binary, join(bin, name))
  }
  const path = [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
  return { path, remove: () => rmSync(bin, { recursive: true, force: true }) }
}

/** The lock files by which a project is known to be one of Bun or Deno. */
export const locks = {
  bun: { 'bun.lock': '' },
  deno: { 'deno.json': '{}', 'deno.lock': '{ "version": "5" }' },
}
