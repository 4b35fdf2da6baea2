import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'

/** Options of the controllers. */
export interface ControllersOptions {
  /**
   * Globs of the files that export controllers, relative to the folder of the process or absolute; `!` leaves out.
   * They are loaded at boot.
   */
  patterns?: readonly string[]
}

/** A list of patterns, or an error that names the option. */
export function patternsOf(option: string, patterns: unknown = []): readonly string[] {
  const isList = Array.isArray(patterns) && patterns.every((one) => typeof one === 'string' && one.trim() !== '')
  if (!isList) throw OptionError(option, quoted(patterns), "a list of globs: ['src/controllers/**/*.ts']")
  return patterns
}

export function checkControllersOptions(options: ControllersOptions): void {
  checkOptions('controllers', options, ['patterns'])
}
