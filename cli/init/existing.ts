import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../plugins/shared/values/json.ts'
import { dependencyKinds, namesIn, readManifest } from '../project/project.ts'
import { textOf } from '../text-file.ts'

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

const manifestIn = (folder: string) => join(folder, 'package.json')

/** A `package.json` in the form of the existing one: its indentation, and how its lines end. */
export function packageText(folder: string, members: Fields): string {
  const before = textOf(manifestIn(folder)) ?? ''
  const [, end = '\n', indent = '  '] = /^\uFEFF?\{\s*?(\r?\n)([ \t]+)"/.exec(before) ?? []
  return `${JSON.stringify(members, null, indent)}\n`.replaceAll('\n', end)
}

/** The name in the `package.json` of a folder. */
export function existingName(folder: string): string | undefined {
  const { name } = readManifest(manifestIn(folder))
  return typeof name === 'string' && name !== '' ? name : undefined
}

/**
 * The existing `package.json` completed with its missing members: a folder in which the framework was installed before `init`
 * already has one. Only two things that `npm init` writes are changed:
 * a test that only fails, and `"type": "commonjs"`, with which no file would be a module.
 */
export function completed(folder: string, own: Fields): Fields | undefined {
  if (!existsSync(manifestIn(folder))) return undefined
  const there = readManifest(manifestIn(folder))
  const known = new Set(namesIn(there, ...dependencyKinds))
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
