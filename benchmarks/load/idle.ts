import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pinned } from '../support/machine.ts'
import type { Exchange } from './probe.ts'

/** Connections that have had one response each and stay open. */
export interface Held {
  /** Throws when the server has closed one of them: then the figure is not that of so many connections. */
  check(): void
  end(): void
}

/** Opens them in a process of their own: a process may have 20 000 files, and a suite has several servers. */
export async function holdConnections(port: number, { targets }: Exchange, count: number): Promise<Held> {
  const script = fileURLToPath(new URL('idle-connections.mjs', import.meta.url))
  const [command, ...args] = pinned(1, [process.execPath, script, String(port), targets[0].path, String(count)])
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the process with ${count} connections to port ${port} ended with ${code}`)
  })
  exited.catch(() => {})
  // It writes one line when all of them have had a response.
  await Promise.race([once(child.stdout, 'data'), exited])
  return {
    check() {
      if (child.exitCode !== null) throw new Error(`a server has closed one of ${count} connections`)
    },
    end: () => void child.kill('SIGKILL'),
  }
}
