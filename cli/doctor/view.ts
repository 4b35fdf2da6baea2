import { join } from 'node:path'
import type { Kernel } from '../../kernel/index.ts'
import type { DoctorCheck, DoctorFinding } from '../../plugins/shared/doctor/check.ts'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { safely } from '../../plugins/shared/values/safely.ts'

/** The data for the checks of the command line itself, which run in addition to those of plugins. */
export interface ProjectView {
  /** The folder of the project, which is the working folder of the process. */
  readonly folder: string
  /** The module with the server, absolute. */
  readonly file: string
  readonly production: boolean
  /** The server; `undefined` if it could not be imported. */
  readonly server: Kernel | undefined
  readonly booted: boolean
}

export interface ProjectCheck extends Pick<DoctorCheck, 'code' | 'level' | 'production'> {
  find(view: ProjectView): DoctorFinding | readonly DoctorFinding[] | undefined
}

/** A finding as it is reported. */
export type Reported = Pick<DoctorCheck, 'code' | 'level'> & Pick<DoctorFinding, 'problem' | 'remedy'>

/** The largest file, in bytes, that is read; a larger one was not written by a person. */
const longest = 1_000_000

/** The text of a file of the project; empty if it cannot be read, such as one that was deleted but is still known to git. */
export const textIn = (folder: string, file: string): string =>
  safely(() => readRegularFileSync(join(folder, file), longest).toString('utf8'), '')
