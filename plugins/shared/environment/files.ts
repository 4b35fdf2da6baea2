import { lstatSync, readlinkSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { readRegularFileSync } from '../files/read-file.ts'
import { variablesOf } from './parse.ts'

/** A variable's value, and the file that it comes from. */
export interface Found {
  readonly value: unknown
  readonly file: string
}

const maxBytes = 100_000
/** The longest run of blanks: for one, dotenv's regular expression takes more than quadratic time; 100000 empty lines took 43 seconds. */
const maxBlanks = 1000

const longestBlank = (text: string) => text.split(/\S+/).reduce((longest, run) => Math.max(longest, run.length), 0)

/**
 * The files in order, each overriding those before it. Files for one machine are not read for tests, which must not
 * depend on the machine.
 */
export function filesOf(file: string, mode: string | undefined): string[] {
  const at = (suffix: string) => (file.endsWith('.json') ? `${file.slice(0, -5)}${suffix}.json` : `${file}${suffix}`)
  const local = mode === 'test' ? [] : [at('.local')]
  return mode === undefined ? [file, ...local] : [file, at(`.${mode}`), ...local, at(`.${mode}.local`)]
}

/** The text of a file, without the byte order mark; shells on Windows write UTF-16, in which nothing would be found. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw Object.assign(new Error(), { code: 'not UTF-8' })
  }
}

/** Why a file cannot be used, without its content; `undefined` if it does not exist. */
function whyUnreadable(error: unknown, file: string): string | undefined {
  const { code, name, kind } = error as { code?: string; name?: string; kind?: string }
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  if (kind !== undefined) return `is ${kind}, not a file`
  if (code === 'EFBIG') return 'cannot be read (larger than 100 kB)'
  if (name === 'NotCapable' || name === 'PermissionDenied')
    return `may not be read: run Deno with --allow-read=${file}, or set file: false`
  return `cannot be read${code === undefined ? '' : ` (${code})`}`
}

/** The variables of all files by name, in a Map: a name such as `__proto__` is an ordinary key there. */
export function readFiles(
  files: readonly string[],
  mustExist: boolean,
  report: (path: string, problem: string) => void,
  folder = '',
): { found: Map<string, Found>; read: string[] } {
  const found = new Map<string, Found>()
  const read: string[] = []
  for (const [index, file] of files.entries()) {
    const path = resolve(folder, file)
    let text: string
    try {
      text = textOf(readRegularFileSync(path, maxBytes))
    } catch (error) {
      const why = whyUnreadable(error, file)
      if (why !== undefined) report(`the file ${file}`, why)
      else if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
        report(`the file ${file}`, `is a link to ${readlinkSync(path)}, which does not exist`)
      else if (index === 0 && mustExist)
        report(`the file ${file}`, isAbsolute(file) ? 'does not exist' : `does not exist in ${process.cwd()}`)
      continue
    }
    if (longestBlank(text) > maxBlanks) {
      report(`the file ${file}`, `has more than ${maxBlanks} spaces or empty lines in a row`)
      continue
    }
    const variables = variablesOf(text, file)
    if (typeof variables === 'string') {
      report(`the file ${file}`, variables)
      continue
    }
    read.push(file)
    for (const [name, value] of variables) found.set(name, { value, file })
  }
  return { found, read }
}
