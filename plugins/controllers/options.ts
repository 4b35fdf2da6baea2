import { option } from '../shared/options/index.ts'

/** Options of the controllers. */
export interface ControllersOptions {
  /**
   * Globs of the files that export controllers, absolute or relative to the working directory of the process; a leading `!` excludes
   * files. They are loaded at boot.
   */
  patterns?: readonly string[]
}

export const patterns = option.list(option.name(/\S/)).says("a list of globs: ['src/controllers/**/*.ts']").default([])

export const controllersOptions = option.shape({ patterns }).typed<ControllersOptions>()
