import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest } from '../project/project.ts'
import { textOf } from '../text-file.ts'

type Fields = Readonly<Record<string, unknown>>

const sections = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

/** The existing `package.json`: a folder in which the framework was installed before `init` already has one. */
function existingManifest(folder: string): Fields | undefined {
  const file = join(folder, 'package.json')
  return existsSync(file) ? readManifest(file) : undefined
}

/** The indentation of the existing `package.json`. */
export function existingIndent(folder: string): string | undefined {
  const file = join(folder, 'package.json')
  return /^\{\s*\n([ \t]+)"/.exec(textOf(file) ?? '')?.[1]
}

/** The name in the `package.json` of a folder. */
export function existingName(folder: string): string | undefined {
  const name = existingManifest(folder)?.name
  return typeof name === 'string' && name !== '' ? name : undefined
}

/**
 * An existing `package.json` completed with its missing members. Only two things that `npm init` writes are changed:
 * a test that only fails, and `"type": "commonjs"`, with which no file would be a module.
 */
export function completed(folder: string, own: Fields): Fields | undefined {
  const there = existingManifest(folder)
  if (there === undefined) return undefined
  const known = new Set(sections.flatMap((section) => Object.keys(fieldsOf(there[section]))))
  const before = Object.entries(fieldsOf(there.scripts)).filter(
    ([, script]) => !/no test specified/.test(String(script)),
  )
  const result: Record<string, unknown> = { ...there, name: own.name, type: own.type }
  if (isObject(own.scripts)) result.scripts = { ...own.scripts, ...Object.fromEntries(before) }
  for (const pins of ['overrides', 'resolutions']) {
    if (isObject(own[pins])) result[pins] = { ...own[pins], ...fieldsOf(there[pins]) }
  }
  if (isObject(own.allowScripts)) result.allowScripts = { ...own.allowScripts, ...fieldsOf(there.allowScripts) }
  for (const section of ['dependencies', 'devDependencies']) {
    const missing = Object.entries(fieldsOf(own[section])).filter(([name]) => !known.has(name))
    if (missing.length === 0) continue
    const all = [...Object.entries(fieldsOf(there[section])), ...missing]
    result[section] = Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))
  }
  return result
}
