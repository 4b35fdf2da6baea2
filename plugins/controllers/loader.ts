import { pathToFileURL } from 'node:url'
import { type AnyClass, defineError, type Logger, type RouteCollection } from '../../kernel/index.ts'
import { findFiles } from './files.ts'
import { isController, isForgotten, mountController } from './mount.ts'
import { patternsOf } from './options.ts'

const ControllerFileError = defineError(
  'ControllerFileError',
  500,
  (file: string, why: string, hint: string) => `the controller file ${file} cannot be loaded: ${why}${hint}`,
)

/** Loads files of controllers; the service `controllers` of every server. */
export class ControllerFiles {
  /** What boot loads. */
  readonly patterns: string[] = []

  /** Adds patterns to those that boot loads; `option` names them in the error for what is no list of globs. */
  add(option: string, patterns: unknown): void {
    this.patterns.push(...this.check(option, patterns))
  }

  /** The same list if it is one of globs; nothing is one without any. */
  check(option: string, patterns: unknown): readonly string[] {
    return patternsOf(option, patterns)
  }

  /**
   * Imports the files that the patterns match, in order of their names, and mounts the controllers they export.
   *
   * @throws (as a rejection) ControllerFileError naming the first file that fails; `cause` is what it threw.
   */
  async load(patterns: readonly string[], collection: RouteCollection, log: Logger): Promise<void> {
    const folder = process.cwd()
    const { files, unmatched } = await findFiles(patterns, folder)
    for (const pattern of unmatched) {
      log.warn({ pattern, folder }, `controllerPatterns: ${JSON.stringify(pattern)} matches no file in ${folder}`)
    }
    const forgotten: { file: string; cls: AnyClass }[] = []
    for (const file of files) {
      try {
        const exported = new Set<unknown>(Object.values(await import(pathToFileURL(file).href)))
        for (const value of exported) {
          if (isController(value)) mountController(value, collection)
          else if (typeof value === 'function' && value.prototype) {
            forgotten.push({ file, cls: value as unknown as AnyClass })
          }
        }
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        throw Object.assign(ControllerFileError(file, why, hintFor(file, error)), { cause: error })
      }
    }
    // Only now: a later file may have a controller that extends it.
    for (const { file, cls } of forgotten.filter((one) => isForgotten(one.cls))) {
      log.warn({ file }, `the class ${cls.name} has routes but no @controller: none of them is mounted`)
    }
  }
}

/** Node.js runs no decorators, and older ones no TypeScript at all. */
function hintFor(file: string, error: unknown): string {
  if ('Bun' in globalThis || 'Deno' in globalThis || !/\.[cm]?tsx?$/.test(file)) return ''
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  const isSyntax = error instanceof SyntaxError || code === 'ERR_UNKNOWN_FILE_EXTENSION' || code.includes('TYPESCRIPT')
  return isSyntax
    ? '. Node.js cannot run TypeScript with decorators by itself: start it with a loader (node --import tsx server.ts), or name the compiled .js files in the patterns'
    : ''
}
