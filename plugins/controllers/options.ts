import { option } from '../toolkit/options/index.ts'

/** Options of the controllers. */
export interface ControllersOptions {
  /**
   * Globs of the files that export controllers, relative to the folder of the process or absolute; `!` leaves out.
   * They are loaded at boot.
   */
  patterns?: readonly string[]
}

export const patterns = option.list(option.name(/\S/)).says("a list of globs: ['src/controllers/**/*.ts']").default([])

export const controllersOptions = option.shape({ patterns }).typed<ControllersOptions>()
