import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../package.ts'
import { fromTemplate } from '../scaffold/template.ts'

/** The types that the runtime part declares: components have other names. */
export const runtimeNames =
  'Answer AnyAnswer ApiError Call CallOptions ClientOptions DataOf FailureStatus HeaderValues Input IsSuccess Redirect Refusal Result SuccessStatus Value'

/** Globals that it uses: a component with such a name would hide them. */
export const globals =
  'AbortSignal ArrayBuffer Blob Error Exclude Extract FormData Headers Object Promise PromiseLike ReadableStream Record Request Response String SyntaxError TypeError URLSearchParams Uint8Array'

/** The same for the part for websockets. */
export const socketNames =
  'AnyWebSocket Opening Reader Reconnect Socket SocketEnd SocketError SocketEvents SocketOptions WebSocketClass'
export const socketGlobals = 'ArrayBuffer AsyncIterable AsyncIterator IteratorResult ReturnType Set URL'

/** The part that is the same in all generated clients: how calls are sent and responses are read. */
export function runtime(): string {
  // The build has copied it from the client of contracts to its templates.
  const calls = readFileSync(join(packageFolder(), 'dist/cli/scaffold/templates/sdk/calls.ts.mustache'), 'utf8')
  const [, ...parts] = calls.replaceAll(/^export (?=(async )?function)/gm, '').split('\n\n')
  return `${parts.join('\n\n')}\n${fromTemplate('sdk/client.ts')}`
}

/** The part for websockets, in clients of servers that have any. */
export const socketRuntime = (): string => fromTemplate('sdk/sockets.ts')
