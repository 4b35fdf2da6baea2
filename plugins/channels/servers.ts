import { Mounts } from '../shared/work/mounts.ts'
import type { Hub } from './hub.ts'

/** The servers with channels, each with the hubs of its scopes, the oldest first; none until it has booted. */
export const servers = new Mounts<Set<Hub>>('Say which: channel.for(server)')
