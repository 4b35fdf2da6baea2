import type { LockService } from './service.ts'

export type { PostgresStoreClient, PostgresStoreOptions } from '../shared/stores/postgres.ts'
export type { LockOptions, LockStoreOption, LocksOptions } from './options.ts'
export { locks } from './plugin.ts'
export type { HeldLock, LockService, LockTrace } from './service.ts'

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Work that only one at a time may do, with the plugin `locks`. */
    locks: LockService
  }
}
