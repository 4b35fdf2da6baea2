import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ms from 'ms'
import { builtPath, checkOptions, OptionError, quoted, type Response } from '../../kernel/index.ts'
import { segmentsOf } from './path.ts'

/** Options of one folder of files. */
export interface StaticOptions {
  /** The folder, as a path (relative to the working directory) or a `file:` URL. */
  root: string | URL
  /** The path under which its files are found. Default `'/'`. */
  prefix?: string
  /** Files and folders whose name begins with a dot: `'ignore'` as if there were none, `'deny'` with 403, `'allow'`. Default `'ignore'`. */
  dotfiles?: 'ignore' | 'deny' | 'allow'
  /** What answers for a folder: the first of these files that is there; `false`: nothing. Default `'index.html'`. */
  index?: string | readonly string[] | false
  /** Endings to try for a path that has no file: `['html']` finds `about.html` at `/about`. Default none. */
  extensions?: readonly string[]
  /** Whether a folder without a slash at its end is redirected to one, when it has an index. Default true. */
  redirect?: boolean
  /** For how long a client may keep a file: seconds, or text such as `'7d'`. Default 0. */
  maxAge?: number | string
  /** Whether `cache-control` says that a file never changes. Default false. */
  immutable?: boolean
  /** Whether a link may lead out of the root. Default false. */
  followSymlinks?: boolean
  /** Whether `file.br` or `file.gz` is sent in place of `file` to clients that can read it. Default false. */
  precompressed?: boolean
  /** Sets further headers; called with the path of the file on disk. */
  setHeaders?: (res: Response, path: string) => void
}

/** The options with every default in place, checked. */
export interface StaticSettings {
  /** Without symbolic links. */
  readonly root: string
  /** `'/'`, or a path without a slash at its end. */
  readonly prefix: string
  readonly dotfiles: 'ignore' | 'deny' | 'allow'
  readonly index: readonly string[]
  readonly extensions: readonly string[]
  readonly redirect: boolean
  /** Milliseconds. */
  readonly maxAge: number
  readonly immutable: boolean
  readonly followSymlinks: boolean
  readonly precompressed: boolean
  readonly setHeaders: StaticOptions['setHeaders']
}

const names = [
  'root',
  'prefix',
  'dotfiles',
  'index',
  'extensions',
  'redirect',
  'maxAge',
  'immutable',
  'followSymlinks',
  'precompressed',
  'setHeaders',
]

/** One folder or a list of them. @throws OptionError naming what is wrong. */
export function settingsOf(options: StaticOptions | readonly StaticOptions[]): StaticSettings[] {
  if (!Array.isArray(options)) return [folderOf('static', options as StaticOptions)]
  if (options.length === 0) throw OptionError('static', quoted('[]'), 'one folder or more')
  return options.map((one: StaticOptions, i) => folderOf(`static[${i}]`, one))
}

function folderOf(at: string, options: StaticOptions): StaticSettings {
  checkOptions(at, options, names)
  const { dotfiles = 'ignore', prefix = '/', index = 'index.html', extensions = [], setHeaders } = options
  const { redirect = true, maxAge = 0, immutable = false, followSymlinks = false, precompressed = false } = options
  if (dotfiles !== 'ignore' && dotfiles !== 'deny' && dotfiles !== 'allow') {
    throw OptionError(`${at}.dotfiles`, quoted(dotfiles), '"ignore", "deny" or "allow"')
  }
  if (setHeaders !== undefined && typeof setHeaders !== 'function') {
    throw OptionError(`${at}.setHeaders`, setHeaders, 'a function (res, path)')
  }
  return {
    root: rootOf(`${at}.root`, options.root),
    prefix: prefixOf(`${at}.prefix`, prefix),
    dotfiles,
    index: fileNames(`${at}.index`, index === false ? [] : index),
    extensions: fileNames(`${at}.extensions`, extensions).map((one) => one.replace(/^\./, '')),
    redirect: flag(`${at}.redirect`, redirect),
    maxAge: maxAgeOf(`${at}.maxAge`, maxAge),
    immutable: flag(`${at}.immutable`, immutable),
    followSymlinks: flag(`${at}.followSymlinks`, followSymlinks),
    precompressed: flag(`${at}.precompressed`, precompressed),
    setHeaders,
  }
}

function rootOf(at: string, root: unknown): string {
  const isUrl = root instanceof URL && root.protocol === 'file:'
  if (!isUrl && (typeof root !== 'string' || root === ''))
    throw OptionError(at, quoted(root), 'the path of a folder, or a file: URL')
  const path = isUrl ? fileURLToPath(root) : resolve(builtPath(root as string))
  try {
    if (statSync(path).isDirectory()) return realpathSync.native(path)
  } catch {
    // The same as a file in its place.
  }
  const shown = quoted(root)
  throw OptionError(at, shown, `a folder that exists${shown === root ? '' : `; ${path} is not one`}`)
}

function prefixOf(at: string, prefix: unknown): string {
  const ok = typeof prefix === 'string' && /^(?:\/[^/?#%*:\\]+)*\/?$/.test(prefix) && prefix !== ''
  const path = ok && prefix !== '/' ? prefix.replace(/\/$/, '') : prefix
  if (!ok || (path !== '/' && segmentsOf(encodeURI(path as string)) === undefined)) {
    throw OptionError(at, quoted(prefix), 'a path such as "/assets"')
  }
  return path as string
}

function fileNames(at: string, value: unknown): readonly string[] {
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || list.some((one) => typeof one !== 'string' || !/^[^/\\\0]+$/.test(one))) {
    throw OptionError(at, quoted(value), 'names without a slash')
  }
  return list
}

function maxAgeOf(at: string, value: unknown): number {
  const given = typeof value === 'number' ? value * 1000 : parseAge(value)
  if (given === undefined || !Number.isFinite(given) || given < 0) {
    throw OptionError(at, quoted(value), 'seconds, 0 or more, or a time such as "7d"')
  }
  return given
}

function parseAge(value: unknown): number | undefined {
  // Longer text makes the library throw.
  if (typeof value !== 'string' || value === '' || value.length > 50) return undefined
  // Its type lists the spellings; others come out as undefined.
  return ms(value as ms.StringValue) as number | undefined
}

function flag(at: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw OptionError(at, quoted(value), 'true or false')
  return value
}
