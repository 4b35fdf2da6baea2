import type { Context, RouteOptions } from '../../../kernel/index.ts'
import { isProduction } from '../environment/node-env.ts'
import type { DoctorCheck, DoctorFinding } from './check.ts'

/** The finding for a page that its own options do not guard. A guard of the whole application is not visible here. */
export function publicPage(
  { middlewares = [], policy }: Pick<RouteOptions, 'middlewares' | 'policy'>,
  page: string,
  remedy: string,
): DoctorFinding | undefined {
  if (middlewares.length > 0 || policy !== undefined) return undefined
  return { problem: `everyone can read ${page}: its options name no middleware and no policy`, remedy }
}

/** The check for such a page of a plugin. */
export const publicPageCheck = <Settings>(
  code: string,
  unguarded: (settings: Settings) => DoctorFinding | undefined,
): DoctorCheck<Settings> => ({ code, level: 'warning', production: true, find: ({ settings }) => unguarded(settings) })

/** Reports such a page at the boot in production, for those who do not run the doctor. */
export function warnOfPublicPage({ log }: Context, found: DoctorFinding | undefined): void {
  if (found !== undefined && isProduction()) log.warn(`${found.problem}. ${found.remedy}`)
}
