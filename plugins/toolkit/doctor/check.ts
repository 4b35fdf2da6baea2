import type { HostServer, ListedPlugin, Listing, ServiceStore, Services } from '../../../kernel/index.ts'

/** `error`: it does not work, or strangers get in; `warning`: it will fail some day; `hint`: it can be meant. */
export type DoctorLevel = 'error' | 'warning' | 'hint'

/** Something that is wrong. */
export interface DoctorFinding {
  /** What is wrong, with the name of the thing; no full stop at its end. */
  readonly problem: string
  /** What to do about it, as an order. */
  readonly remedy: string
  /** What the finding is about: of several with the same code about the same thing one is shown. Default: the problem. */
  readonly about?: string
  /** The level of this finding, in place of that of the check. */
  readonly level?: DoctorLevel
}

/** What a check of a plugin may look at. */
export interface DoctorInput<Settings = unknown> {
  /** The server that is examined; it does not listen. */
  readonly server: HostServer
  /** What is registered on the server. */
  readonly listing: Listing
  /** The registration that this is about: a plugin in several scopes is looked at in each. */
  readonly plugin: ListedPlugin
  /** The options of the plugin, read. */
  readonly settings: Settings
  /** The services that the plugin of this registration sees. */
  readonly services: ServiceStore & Partial<Services>
  /** Whether the server has booted; where that failed, `setup` may not have run. */
  readonly booted: boolean
}

/** One thing that `framework doctor` looks at. */
export interface DoctorCheck<Settings = unknown> {
  /** The name of the plugin, a dot, and what is wrong: `session.memory-store`. It stays the same from version to version. */
  readonly code: string
  /** How serious the finding is where it does not say so itself: an `error` fails `framework doctor`. */
  readonly level: DoctorLevel
  /** Only where it is for production. */
  readonly production?: boolean
  /** It asks other machines; it gets a few seconds for that, and what it throws means that they could not be asked. */
  readonly network?: boolean
  /** The code of the error with which boot fails for the same reason, so that it is reported once. */
  readonly explains?: string
  /** Gives what is wrong, if anything is. A missing package, reported by `peer`, may be thrown. */
  find(input: DoctorInput<Settings>): Found | Promise<Found>
}

type Found = DoctorFinding | readonly DoctorFinding[] | undefined

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /** What `framework doctor` looks at, loaded when it runs. */
    doctor?(): Promise<readonly DoctorCheck[]>
  }
}
