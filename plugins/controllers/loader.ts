import { defineError, type Logger, type RouteCollection } from '../../kernel/index.ts'
import type { AnyClass } from '../toolkit/decorator/decorator.ts'
import { importFiles } from '../toolkit/files.ts'
import { isController, isForgotten, mountController } from './mount.ts'
import { patterns as patternsOf } from './options.ts'

const ControllerFileError = defineError(
  'ControllerFileError',
  500,
  (file: string, why: string) => `the controller file ${file} cannot be loaded: ${why}`,
)

/** Loads files of controllers; the service `controllers` of every server. */
export class ControllerFiles {
  /** The patterns that boot loads. */
  readonly patterns: string[] = []

  /** Adds patterns to those that boot loads; `option` is the name in the error for a value that is not a list of globs. */
  add(option: string, patterns: unknown): void {
    this.patterns.push(...this.check(option, patterns))
  }

  /** Returns the same list if it is one of globs; a missing value is an empty list. */
  check(option: string, patterns: unknown): readonly string[] {
    return patternsOf.parse(patterns, option)
  }

  /**
   * Imports the files that the patterns match, in order of their names, and mounts the controllers they export.
   *
   * @throws (as a rejection) ControllerFileError naming the first file that fails; `cause` is its error.
   */
  async load(patterns: readonly string[], collection: RouteCollection, log: Logger): Promise<void> {
    const forgotten: { file: string; cls: AnyClass }[] = []
    await importFiles(patterns, {
      unmatched: (pattern, folder) =>
        log.warn({ pattern, folder }, `controllerPatterns: ${JSON.stringify(pattern)} matches no file in ${folder}`),
      failure: ControllerFileError,
      take(exported, file) {
        for (const value of exported) {
          if (isController(value)) mountController(value, collection)
          else if (typeof value === 'function' && value.prototype) {
            forgotten.push({ file, cls: value as unknown as AnyClass })
          }
        }
      },
    })
    // Only now: a later file may have a controller that extends it.
    for (const { file, cls } of forgotten.filter((one) => isForgotten(one.cls))) {
      log.warn({ file }, `the class ${cls.name} has routes but no @controller: none of them is mounted`)
    }
  }
}
