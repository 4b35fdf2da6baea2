import { commandLineOf } from '../../project/project.ts'
import type { Names } from '../names.ts'
import type { Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { moduleAndTest } from '../source.ts'

/** A command of the application. */
export function command(place: Place, { kebab, pascal }: Names): Scaffold {
  const line = commandLineOf(place.project.packageManager)
  return {
    files: moduleAndTest(place, kebab, 'command', { kebab, className: `${pascal}Command` }),
    next: [`Try it: ${line} ${kebab} world --loud; "${line} list" shows it.`],
  }
}
