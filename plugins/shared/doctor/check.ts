import type { HostServer, ListedPlugin, Listing, RouteOptions, ServiceStore, Services } from '../../../kernel/index.ts'

/** A level. `error`: it does not work, or strangers have access; `warning`: it will fail some day; `hint`: it may be intended. */
export type DoctorLevel = 'error' | 'warning' | 'hint'

/** A problem that a check has found. */
export interface DoctorFinding {
  /** The problem, with the name of the thing; no full stop at its end. */
  readonly problem: string
  /** The remedy, as an imperative. */
  readonly remedy: string
  /** What the finding is about: only one of several with the same code about the same thing is shown. Default: the problem. */
  readonly about?: string
  /** The level of this finding, if it differs from that of the check. */
  readonly level?: DoctorLevel
}

/** The argument of a check of a plugin. */
export interface DoctorInput<Settings = unknown> {
  /** The server that is examined; it does not listen. */
  readonly server: HostServer
  /** The registrations of the server. */
  readonly listing: Listing
  /** The registration that is checked: a plugin in several scopes is checked in each. */
  readonly plugin: ListedPlugin
  /** The options of the plugin, as its reader returned them. */
  readonly settings: Settings
  /** The services that the plugin of this registration sees. */
  readonly services: ServiceStore & Partial<Services>
  /** Whether the server has booted; if that failed, `setup` may not have run. */
  readonly booted: boolean
}

/** One check of `framework doctor`. */
export interface DoctorCheck<Settings = unknown> {
  /** The name of the plugin, a dot, and the problem: `session.memory-store`. It stays the same from version to version. */
  readonly code: string
  /** The level of findings that have none of their own: an `error` fails `framework doctor`. */
  readonly level: DoctorLevel
  /** Whether the check is only for production. */
  readonly production?: boolean
  /** Whether the check asks other machines; it has a few seconds for that, and an error means that they could not be reached. */
  readonly network?: boolean
  /** The code of the error with which the boot fails for the same reason, so that it is reported only once. */
  readonly explains?: string
  /** Returns the problems, if there are any. A missing package, reported by `peer`, may be thrown. */
  find(input: DoctorInput<Settings>): Found | Promise<Found>
}

type Found = DoctorFinding | readonly DoctorFinding[] | undefined

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /** The checks of `framework doctor`, loaded when it runs. */
    doctor?(): Promise<readonly DoctorCheck[]>
  }
}

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
