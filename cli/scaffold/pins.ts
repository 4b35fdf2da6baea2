import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { existingIndent } from '../init/existing.ts'
import { pinMember, pinnedWorkspace, pinsFor } from '../project/packages.ts'
import { type Project, readManifest } from '../project/project.ts'
import type { ScaffoldFile } from './files.ts'

/** The setting of the package manager that keeps dependencies of these packages at versions for every supported Node.js. */
export function pinFiles({ root, packageManager }: Project, packages: readonly string[]): ScaffoldFile[] {
  const pins = pinsFor(packages)
  if (Object.keys(pins).length === 0) return []
  if (packageManager === 'pnpm') {
    const file = join(root, 'pnpm-workspace.yaml')
    const text = existsSync(file) ? readRegularFileSync(file).toString('utf8') : ''
    const pinned = pinnedWorkspace(text, pins)
    return pinned === text ? [] : [{ path: 'pnpm-workspace.yaml', text: pinned, existing: 'update' }]
  }
  const member = pinMember(packageManager)
  const manifest = readManifest(join(root, 'package.json'))
  const there = member === undefined ? {} : ((manifest[member] ?? {}) as Readonly<Record<string, unknown>>)
  if (member === undefined || Object.keys(pins).every((name) => name in there)) return []
  const text = JSON.stringify({ ...manifest, [member]: { ...pins, ...there } }, null, existingIndent(root) ?? '  ')
  return [{ path: 'package.json', text: `${text}\n`, existing: 'update' }]
}
