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

interface Served {
  readonly isPublic: boolean
  readonly routeOptions: RouteOptions
}

/** Finds that no option of a plugin guards the description that it serves; `of` says what that is, and its path. */
export const publicDescription =
  <Settings extends Served>(plugin: string, of: (settings: Settings) => readonly [what: string, path: string]) =>
  (settings: Settings, prefix = ''): DoctorFinding | undefined => {
    if (settings.isPublic) return undefined
    const [what, path] = of(settings)
    const remedy = `Set ${plugin}.middlewares or ${plugin}.policy, or ${plugin}.public: true if everyone may read it`
    return publicPage(settings.routeOptions, `${what} at ${prefix}${path}`, remedy)
  }

/** Reports such a page at the boot in production, for those who do not run the doctor. */
export function warnOfPublicPage({ log }: Context, found: DoctorFinding | undefined): void {
  if (found !== undefined && isProduction()) log.warn(`${found.problem}. ${found.remedy}`)
}
