import { channel } from 'node:diagnostics_channel'
import { running } from '../values/running-server.ts'
import { wrapWork } from './wrap-work.ts'

/** Hooks of plugins that have not ended. */
let hooks = 0
/** Whether several servers of this process do the same kind of work: only then do requests and jobs have a context of their server. */
let areSeveral = false
/** Whether that has been so since a server was open: what a closed one has begun may still run, and must not lose its context, since it would be taken for work of another one. */
let wereSeveral = false
let leaveRequests: (() => void) | undefined

/** Does work for a server. Without a second server this costs nothing: a context for each message would take a third of its time. */
export const inServer = <Result>(server: object | undefined, work: () => Result): Result =>
  areSeveral && server !== undefined ? running.run(server, work) : work()

/** Called when servers that do a kind of work have come or gone: `isOpen` if there is any, `now` if there are several of one kind. */
export function haveSeveral(now: boolean, isOpen: boolean): void {
  wereSeveral = now || (wereSeveral && isOpen)
  settle()
  if (now === areSeveral) return
  areSeveral = now
  leaveRequests?.()
  leaveRequests = undefined
  if (!now) return
  leaveRequests = wrapWork<{ request: { server: object } }>('request', ({ request }, work) =>
    running.run(request.server, work),
  )
}

/** An enabled storage makes every promise of Node.js 20 slower, so it is enabled only while it is needed. */
function settle(): void {
  if (hooks === 0 && !wereSeveral) running.disable()
}

// Hooks always have a context: what they declare has the services of their server, and belongs to it alone.
wrapWork<{ server: object }>('plugin', ({ server }, work) => {
  hooks++
  running.run(server, work)
})
channel('tracing:framework:plugin:asyncEnd').subscribe(() => {
  hooks--
  settle()
})
