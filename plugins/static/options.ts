import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fixedPath, type OptionPlace, quoted, type Response } from '../../kernel/index.ts'
import { builtPath } from '../shared/files/built-paths.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { parseDuration } from '../shared/values/duration.ts'
import { safely } from '../shared/values/safely.ts'
import { segmentsOf } from './path.ts'

/** Options of one folder of files. */
export interface StaticOptions {
  /** The folder, as a path (relative to the working directory) or a `file:` URL. */
  root: string | URL
  /** The path under which its files are served. Default `'/'`. */
  prefix?: string
  /**
   * How to treat files and folders whose names begin with a dot: `'ignore'` as if missing, `'deny'` with 403,
   * `'allow'`. Default `'ignore'`.
   */
  dotfiles?: 'ignore' | 'deny' | 'allow'
  /** The index of a folder: the first of these files that exists; `false`: none. Default `'index.html'`. */
  index?: string | readonly string[] | false
  /** Whether a browser that opens a path without a file gets the index of the root, as a single-page application needs. Default false. */
  spa?: boolean
  /** Extensions to try for a path without a file: `['html']` finds `about.html` at `/about`. Default none. */
  extensions?: readonly string[]
  /** Whether the path of a folder without a final slash is redirected to the path with it, if the folder has an index. Default true. */
  redirect?: boolean
  /** How long a client may cache a file: in seconds, or a string such as `'7d'`. Default 0. */
  maxAge?: number | string
  /** Whether `cache-control` says that a file never changes. Default false. */
  immutable?: boolean
  /** Whether a symbolic link may lead out of the root. Default false. */
  followSymlinks?: boolean
  /** Whether `file.br` or `file.gz` is sent instead of `file` to clients that can read it. Default false. */
  precompressed?: boolean
  /** Sets additional headers; called with the path of the file on disk, and awaited. */
  setHeaders?: (res: Response, path: string) => void | Promise<void>
}

const root = option.custom<string | URL, string>('the path of a folder, or a file: URL', rootOf)
const fileName = option.name(/^[^/\\\0]+$/, 'a name without a slash')
const fileNames = option.either(
  fileName.into((one): readonly string[] => [one]),
  option.list(fileName),
)

const folder = option
  .shape({
    root: root.required(),
    /** `'/'`, or a path without a final slash. */
    prefix: option.custom<string, string>('a path such as "/assets"', prefixOf).default('/'),
    dotfiles: option.oneOf('ignore', 'deny', 'allow').default('ignore'),
    index: option
      .either(
        option.off().into((): readonly string[] => []),
        fileNames,
      )
      .default('index.html'),
    spa: option.flag().default(false),
    extensions: fileNames.into((all) => all.map((one) => one.replace(/^\./, ''))).default([]),
    redirect: option.flag().default(true),
    /** In milliseconds. */
    maxAge: option.custom<number | string, number>('seconds, 0 or more, or a time such as "7d"', maxAgeOf).default(0),
    immutable: option.flag().default(false),
    followSymlinks: option.flag().default(false),
    precompressed: option.flag().default(false),
    setHeaders: option.fn<NonNullable<StaticOptions['setHeaders']>>('a function (res, path)'),
  })
  .typed<StaticOptions>()

/** One folder. */
export type StaticSettings = SettingsOf<typeof folder>

/** One folder or a list of them. @internal */
export const staticOptions = option
  .either(
    option.list(folder, { min: 1 }),
    folder.into((one): readonly StaticSettings[] => [one]),
  )
  .says('one or more folders: { root } or a list of such objects')
  .required()

function rootOf(given: unknown, place: OptionPlace): string | undefined {
  const isUrl = given instanceof URL && given.protocol === 'file:'
  if (!isUrl && (typeof given !== 'string' || given === '')) {
    return void place.wrong(quoted(given), 'the path of a folder, or a file: URL')
  }
  const path = isUrl ? fileURLToPath(given) : resolve(builtPath(given as string))
  if (safely(() => statSync(path).isDirectory())) return path
  const shown = quoted(given)
  return void place.wrong(shown, `a folder that exists${shown === given ? '' : `; ${path} is not one`}`)
}

function prefixOf(given: unknown, place: OptionPlace): string | undefined {
  const isPath = typeof given === 'string' && segmentsOf(given) !== undefined && !given.includes('\\')
  if (!isPath) return void place.wrong(quoted(given), 'a path such as "/assets"')
  try {
    fixedPath(given)
    return given === '/' ? given : given.replace(/\/$/, '')
  } catch (error) {
    return void place.problem(`the option "${place.path}": ${(error as Error).message}`)
  }
}

function maxAgeOf(given: unknown, place: OptionPlace): number | undefined {
  const age = typeof given === 'number' ? given * 1000 : parseDuration(given)
  if (age !== undefined && Number.isFinite(age) && age >= 0) return age
  return void place.wrong(quoted(given), 'seconds, 0 or more, or a time such as "7d"')
}
