import type { PluginFactory, Server } from 'framework'
import type { DeclareTest } from '../contract.ts'

/** What a test of a plugin needs to know of it. */
export interface PluginTestOptions<Options> {
  /** Options with which the plugin works, or a function that returns them, called for each registration. Default: none. */
  readonly options?: Options | (() => Options | Promise<Options>)
  /**
   * Wrong values by the path of their option, such as `{ after: [-1, 'soon'], 'redis.url': [7] }`: each must fail the registration or the
   * boot with an error that names the path.
   */
  readonly wrongOptions?: { readonly [path: string]: readonly unknown[] }
  /** Factories of the plugins that it depends on, which work without options. */
  readonly with?: readonly PluginFactory<undefined, object>[]
  /** Uses the plugin of a server that has booted: sends a request, calls its service. Rejects if the plugin does not work. */
  use?(server: Server): unknown
  /** Whether the plugin is for the whole server, and refuses to be registered in a scope. Default false. */
  readonly isOfServer?: boolean
  /** Declares a test for each check. Without it, all checks run at once, and `testPlugin` rejects with every failure. */
  readonly test?: DeclareTest
}
