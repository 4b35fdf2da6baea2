import type { Kernel } from '../../kernel/index.ts'
import type { DoctorCheck, DoctorFinding } from '../../plugins/shared/doctor/check.ts'

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
