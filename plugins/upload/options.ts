import { accessSync, constants, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type OptionPlace, type OptionRoute, quoted } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import type { UploadSink } from './store.ts'

/** Options of uploads; sizes are in bytes, or strings such as `'5mb'`. */
export interface UploadOptions {
  /** Limit for one file. Default `'1mb'`; a larger file is refused with 413. */
  maxFileSize?: number | string
  /** Limit for the whole form. Default `'10mb'`, or `maxFileSize` plus a megabyte if that is more. */
  maxTotalSize?: number | string
  /** How many files a form may have. Default 10. */
  maxFiles?: number
  /** How many fields that are not files a form may have. Default 100. */
  maxFields?: number
  /** Limit for one field that is not a file. Default `'1mb'`. */
  maxFieldSize?: number | string
  /** Where files are stored: in memory, in a temporary folder, or by your own sink. Default `'memory'`. */
  storage?: 'memory' | 'disk' | UploadSink
  /** The parent of the temporary folder of `storage: 'disk'`. Default: that of the system. */
  folder?: string
}

/** The upload options of a route; missing ones are taken from the plugin. */
export interface RouteUploadOptions extends UploadOptions {}

const megabyte = 1024 ** 2

const sink = '"memory", "disk" or a sink: { write(file) }, optionally with discard(result)'

// Secret, whatever its members are: a sink may have the password of its bucket.
const ownSink = option
  .custom<UploadSink, UploadSink>(sink, (given, place) =>
    isSink(given) ? given : void place.wrong(quoted(given), sink),
  )
  .secret()

/** Defined separately, so that a route can set each of them. */
const members = option
  .shape({
    maxFileSize: option.size().default('1mb'),
    maxTotalSize: option.size(),
    maxFiles: option.int({ min: 0 }).default(10),
    maxFields: option.int({ min: 0 }).default(100),
    maxFieldSize: option.size().default('1mb'),
    storage: option.either(option.oneOf('memory', 'disk'), ownSink).default('memory'),
    folder: option.name(undefined, 'the path of a folder'),
  })
  .typed<UploadOptions>()

export type UploadSettings = SettingsOf<typeof members>

/** @internal */
export const uploadOptions = members.into(withFolder)

const overrides = option.overrides(members)

/** Reads the options of one route; `false`: its forms are left unread. */
export function uploadOfRoute(given: unknown, place: OptionPlace, route: OptionRoute<UploadSettings>) {
  const own = overrides(given, place, route)
  return own && place.isFine ? withFolder(own, place) : own
}

/** The limits from all options together. */
export const limitsOf = (settings: UploadSettings) => ({
  ...settings,
  maxTotalSize: settings.maxTotalSize ?? Math.max(10 * megabyte, settings.maxFileSize + megabyte),
})

export type UploadLimits = ReturnType<typeof limitsOf>

function isSink(given: unknown): given is UploadSink {
  if (typeof given !== 'object' || given === null) return false
  const { write, discard } = given as Partial<UploadSink>
  return typeof write === 'function' && (discard === undefined || typeof discard === 'function')
}

function withFolder(settings: UploadSettings, place: OptionPlace): UploadSettings {
  const { storage, folder } = settings
  const why = storage === 'disk' ? whyUnusable(folder ?? tmpdir()) : undefined
  if (why !== undefined) {
    place.in('folder').wrong(quoted(folder ?? tmpdir()), `a folder that can be written to: ${why}`)
  }
  return settings
}

function whyUnusable(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return 'it is a file'
    accessSync(folder, constants.W_OK)
    return undefined
  } catch (error) {
    // Shows the code, because the message contains the path, and an invalid path may be an address with a password.
    return (error as NodeJS.ErrnoException).code ?? 'it cannot be read'
  }
}
