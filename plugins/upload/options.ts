import { accessSync, constants, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { checkOptions, OptionError, quoted, sizeOption } from '../../kernel/index.ts'
import { withRouteOption } from '../shared/route-option.ts'
import type { UploadSink } from './store.ts'

/** Options of uploads; sizes are bytes, or text such as `'5mb'`. */
export interface UploadOptions {
  /** The largest file. Default `'1mb'`; more is 413. */
  maxFileSize?: number | string
  /** The largest form, everything counted. Default `'10mb'`, or `maxFileSize` and a megabyte where that is more. */
  maxTotalSize?: number | string
  /** The most files; default 10. */
  maxFiles?: number
  /** The most fields that are no files; default 100. */
  maxFields?: number
  /** The largest field. Default `'1mb'`. */
  maxFieldSize?: number | string
  /** Where files go: into memory, to a temporary folder, or into a sink of your own. Default `'memory'`. */
  storage?: 'memory' | 'disk' | UploadSink
  /** Where the temporary folder of `storage: 'disk'` is made. Default: that of the system. */
  folder?: string
}

/** What a route may say about its own uploads; what it leaves out is as the plugin has it. */
export interface RouteUploadOptions extends UploadOptions {}

export interface UploadLimits {
  readonly fileSize: number
  readonly totalSize: number
  readonly fieldSize: number
  readonly maxFiles: number
  readonly maxFields: number
}

/** The options with every default in place, checked. */
export interface UploadSettings {
  readonly limits: UploadLimits
  readonly storage: 'memory' | 'disk' | UploadSink
  readonly folder: string
}

const names = ['maxFileSize', 'maxTotalSize', 'maxFiles', 'maxFields', 'maxFieldSize', 'storage', 'folder']
const megabyte = 1024 ** 2

/** @throws OptionError naming what is wrong. */
export function settingsOf(options: UploadOptions): UploadSettings {
  checkOptions('upload', options, names)
  const { maxFileSize = megabyte, maxFieldSize = megabyte, maxFiles = 10, maxFields = 100 } = options
  const { storage = 'memory', folder = tmpdir() } = options
  const fileSize = sizeOption('upload.maxFileSize', maxFileSize)
  const { maxTotalSize = Math.max(10 * megabyte, fileSize + megabyte) } = options
  return {
    limits: {
      fileSize,
      totalSize: sizeOption('upload.maxTotalSize', maxTotalSize),
      fieldSize: sizeOption('upload.maxFieldSize', maxFieldSize),
      maxFiles: count('maxFiles', maxFiles),
      maxFields: count('maxFields', maxFields),
    },
    storage: storageOf(storage),
    folder: folderOf(folder, storage),
  }
}

/** The settings of a route that has options of its own. */
export function routeSettingsOf(plugin: UploadOptions, route: unknown): UploadSettings {
  return settingsOf(withRouteOption('upload', plugin, route))
}

function count(name: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw OptionError(`upload.${name}`, quoted(value), 'a whole number, 0 or more')
  }
  return value
}

function storageOf(storage: unknown): UploadSettings['storage'] {
  if (storage === 'memory' || storage === 'disk') return storage
  const sink = storage as Partial<UploadSink> | null
  const isSink = typeof sink === 'object' && sink !== null && typeof sink.write === 'function'
  if (isSink && (sink.discard === undefined || typeof sink.discard === 'function')) return sink as UploadSink
  throw OptionError(
    'upload.storage',
    quoted(storage),
    '"memory", "disk" or a sink: { write(file) } with, if it can, discard(result)',
  )
}

function folderOf(folder: unknown, storage: unknown): string {
  if (typeof folder !== 'string' || folder === '')
    throw OptionError('upload.folder', quoted(folder), 'the path of a folder')
  if (storage !== 'disk') return folder
  const error = whyUnusable(folder)
  if (error !== undefined)
    throw OptionError('upload.folder', quoted(folder), `a folder that can be written to: ${error}`)
  return folder
}

function whyUnusable(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return 'it is a file'
    accessSync(folder, constants.W_OK)
    return undefined
  } catch (error) {
    // Its code, for the message has the path, and a path that is none may be an address with its password.
    return (error as NodeJS.ErrnoException).code ?? 'it cannot be looked at'
  }
}
