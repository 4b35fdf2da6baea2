import { openBun } from './bun.ts'
import type { OpenTransport } from './contract.ts'
import { openDeno } from './deno.ts'
import { openLinked } from './linked.ts'
import { openNode } from './node.ts'

/** Returns what opens the websockets of a server, by its adapter; within the process for tests. */
export async function transportOf(adapter: string | undefined): Promise<OpenTransport> {
  const isNative = adapter !== 'node'
  const ofRuntime =
    isNative && 'Bun' in globalThis ? openBun : isNative && 'Deno' in globalThis ? openDeno : await openNode()
  return (connection, ...rest) => (connection.runtime === 'inject' ? openLinked : ofRuntime)(connection, ...rest)
}
