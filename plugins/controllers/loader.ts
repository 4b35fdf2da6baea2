import { defineErrors, type Logger, type RouteCollection } from '../../kernel/index.ts'
import type { AnyClass } from '../shared/decorators/decorator.ts'
import { importFiles } from '../shared/files/modules.ts'
import { isController, isForgotten, mountController } from './mount.ts'
import { patterns as patternsOf } from './options.ts'

const { ControllerFileError } = defineErrors({
  ControllerFileError: (file: string, why: string) => `the controller file ${file} cannot be loaded: ${why}`,
})

/** Loads controller files; the service `controllers` of every server. */
export class ControllerFiles {
  /** The patterns of the files that are loaded at boot. */
  readonly patterns: string[] = []

  /** Adds patterns to those loaded at boot; `option` is the name used in the error for a value that is not a list of globs. */
  add(option: string, patterns: unknown): void {
    this.patterns.push(...this.check(option, patterns))
  }

  /** Returns a given list of globs after checking it; for a missing value, an empty list. */
  check(option: string, patterns: unknown): readonly string[] {
    return patternsOf.parse(patterns, option)
  }

  /**
   * Imports the files that match the patterns, in order of their names, and mounts the controllers that they export.
   *
   * @throws (as a rejection) ControllerFileError naming the first file that fails; `cause` is the error of that file.
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
    // Checked only now, because a later file may contain a controller that extends the class.
    for (const { file, cls } of forgotten.filter((one) => isForgotten(one.cls))) {
      log.warn({ file }, `the class ${cls.name} has routes but no @controller: none of them is mounted`)
    }
  }
}
