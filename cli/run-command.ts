import type { Command, Kernel } from '../kernel/index.ts'
import { loadApplication } from './application.ts'
import { readArguments } from './arguments.ts'
import { withLostErrors } from './guard.ts'
import type { Output } from './output.ts'
import { quietly } from './quiet.ts'

/**
 * Runs a command with what was typed behind its name, closes the servers that it has booted, and gives the exit code: 1 also
 * where closing fails, since what was to be flushed then may be lost.
 */
export async function runCommand(command: Command, argv: readonly string[], { print, note }: Output): Promise<number> {
  const input = await readArguments(command.name, command, argv)
  const booted = new Set<Kernel>()
  const boot = async <Server extends Kernel = Kernel>(given?: Server): Promise<Server> => {
    const server = given ?? (await loadApplication()).server
    booted.add(server)
    await quietly(() => server.ready())
    // Without one given the caller has named no other type.
    return server as Server
  }
  let code: void | number
  try {
    code = await withLostErrors(async () => command.run({ ...input, print, note, boot }))
  } catch (error) {
    await closeAll(booted, note)
    throw error
  }
  const isClosed = await closeAll(booted, note)
  return (typeof code === 'number' ? code : 0) || (isClosed ? 0 : 1)
}

/** The last one first, as they may depend on each other. */
async function closeAll(servers: ReadonlySet<Kernel>, note: Output['note']): Promise<boolean> {
  let isClosed = true
  for (const server of [...servers].reverse()) {
    try {
      await quietly(() => server.close())
    } catch (error) {
      isClosed = false
      note(`closing the server failed: ${(error as Error).message}`)
    }
  }
  return isClosed
}
