import type { OpenWire } from './contract.ts'
import { openLinked } from './linked.ts'

/** How the websockets of a server are opened: by the adapter that it listens with, and in process for tests. */
export async function wireOf(adapter: string | undefined): Promise<OpenWire> {
  const isNative = adapter !== 'node'
  const ofRuntime: OpenWire =
    isNative && 'Bun' in globalThis
      ? (await import('./bun.ts')).openBun
      : isNative && 'Deno' in globalThis
        ? (await import('./deno.ts')).openDeno
        : await (await import('./node.ts')).openNode()
  return (connection, ...rest) =>
    connection.runtime === 'inject' ? openLinked(connection, ...rest) : ofRuntime(connection, ...rest)
}
