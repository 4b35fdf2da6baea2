import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A file of the project, with its text. */
export interface Text {
  /** Relative to the project's folder. */
  readonly file: string
  readonly text: string
}

export const read = (file: string): Text => ({ file, text: readFileSync(join(root, file), 'utf8') })

/** All files below a folder with one ending. */
export function readFolder(folder: string, ending: string): Text[] {
  // A fresh checkout has no empty folders.
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/'))
    .filter((file) => !file.includes('node_modules/'))
    .sort()
    .map(read)
}

/** Every `defineError('Code', status, …)` and every row of `defineErrors({ … })`, without a status those of 500; docstrings do not count. */
export function errorRows(text: string): { code: string; status: number }[] {
  const code = text.replace(/\/\*\*[\s\S]*?\*\//g, '')
  const tables = [...code.matchAll(/defineErrors\(\{\n([\s\S]*?)\n\}\)/g)].map(([, rows]) => rows!)
  const rows = tables.flatMap((table) => [...table.matchAll(/^ {2}(\w+): (?:\[\s*(\d+)|\()/gm)])
  return [...code.matchAll(/defineError\(\s*'(\w+)',\s*(\d+)?/g), ...rows].map(([, code, status = 500]) => ({
    code: code!,
    status: Number(status),
  }))
}

/** The members of an interface of a source. */
export function membersOf(text: string, name: string): string[] {
  const pattern = new RegExp(`^( *)(?:export )?interface ${name}\\b.*\\{\\n([\\s\\S]*?)^\\1\\}`, 'm')
  const [, indent = '', body = ''] = pattern.exec(text) ?? []
  const members = body.matchAll(new RegExp(`^${indent}  (?:readonly )?(\\w+)\\??[:(]`, 'gm'))
  return [...members].map(([, member]) => member!)
}
