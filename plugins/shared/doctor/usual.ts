import type { RouteOptions } from '../../../kernel/index.ts'
import type { DoctorCheck, DoctorFinding, DoctorInput } from './check.ts'

/** A warning that matters in production only. */
export const productionWarning = <Settings>(
  code: string,
  find: DoctorCheck<Settings>['find'],
): DoctorCheck<Settings> => ({ code, level: 'warning', production: true, find })

/** A warning about options that are for development only. */
export const notForProduction = <Settings>(
  code: string,
  applies: (settings: Settings) => boolean,
  finding: DoctorFinding,
): DoctorCheck<Settings> => productionWarning(code, ({ settings }) => (applies(settings) ? finding : undefined))

/** The check for packages that a plugin otherwise loads only when it needs them; `load` rejects if one is missing. */
export const missingPackage = <Settings>(
  load: (input: DoctorInput<Settings>) => Promise<unknown>,
): DoctorCheck<Settings> => ({
  code: 'package.missing',
  level: 'error',
  find: (input) => load(input).then(() => undefined),
})

/** A hint for a plugin that does something only for routes with its option, where none has it. */
export const unused = (option: keyof RouteOptions, finding: DoctorFinding): DoctorCheck => ({
  code: `${option}.unused`,
  level: 'hint',
  find({ listing, plugin, booted }) {
    const isUsed = listing.routes.some(
      ({ record, reachedBy }) => record.options[option] && reachedBy.get(option) === plugin,
    )
    return booted && !isUsed ? finding : undefined
  },
})
