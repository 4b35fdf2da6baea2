import type { RouteOptions } from '../../../kernel/index.ts'
import type { DoctorCheck, DoctorFinding, DoctorInput } from './check.ts'

/** A warning about options that are for development only. */
export function notForProduction<Settings>(
  code: string,
  applies: (settings: Settings) => boolean,
  finding: DoctorFinding,
): DoctorCheck<Settings> {
  const find = ({ settings }: DoctorInput<Settings>) => (applies(settings) ? finding : undefined)
  return { code, level: 'warning', production: true, find }
}

/** A hint for a plugin that does something only for routes with its option, where none has it. */
export function unused(option: keyof RouteOptions, finding: DoctorFinding): DoctorCheck {
  return {
    code: `${option}.unused`,
    level: 'hint',
    find({ listing, plugin, booted }) {
      const isUsed = listing.routes.some(
        ({ record, reachedBy }) => record.options[option] && reachedBy.get(option) === plugin,
      )
      return booted && !isUsed ? finding : undefined
    },
  }
}
