import { inspect } from 'node:util'
import type { Kernel } from '../../kernel/index.ts'
import { isInTime } from '../../kernel/support/within.ts'
import type { CommandDefinition } from '../../plugins/shared/development/command-definition.ts'
import { withLostErrors } from '../application/guard.ts'
import { loadApplication } from '../application/load.ts'
import { CommandFailure } from '../failure.ts'
import type { Output } from '../output.ts'
import { printable } from '../printable.ts'
import { readArguments } from './arguments.ts'
import { quietly } from './standard-output.ts'

/**
 * Runs a command with its typed arguments, closes the servers that it has booted, and returns the exit code. It is also 1
 * if closing fails or does not wait for running work, because data may then be lost.
 */
export async function runCommand(
  command: CommandDefinition,
  argv: readonly string[],
  { print, note }: Output,
): Promise<number> {
  const input = await readArguments(command.name, command, argv)
  const booted: Booted = new Map()
  const boot = async <Server extends Kernel = Kernel>(given?: Server): Promise<Server> => {
    const server = given ?? (await loadApplication()).server
    const ready = quietly(() => server.ready())
    booted.set(server, ready)
    await ready
    // If no server was passed, the caller has not named another type.
    return server as Server
  }
  let code: void | number
  try {
    code = await withLostErrors(async () => command.run({ ...input, print, note, boot }))
  } catch (error) {
    // The inspector's page shows how the process ends, and hears it when the server closes.
    process.exitCode = 1
    await closeAll(booted, note)
    throw error
  }
  const isClosed = await closeAll(booted, note)
  return exitCode(command.name, code) || (isClosed ? 0 : 1)
}

/** Checks an exit code: systems keep only eight bits of it, so 256 would mean success. */
function exitCode(name: string, code: unknown): number {
  if (code === undefined) return 0
  if (Number.isInteger(code) && (code as number) >= 0 && (code as number) <= 255) return code as number
  throw new CommandFailure(`${name} ended with ${inspect(code)}, which is not an exit code (0 to 255 or nothing)`)
}

/** Each server with its boot. */
type Booted = Map<Kernel, Promise<unknown>>

/** Milliseconds that an abandoned boot may still take. */
const bootPatience = 5_000

/** Closes all servers, the last one first, because they may depend on each other. */
async function closeAll(servers: Booted, note: Output['note']): Promise<boolean> {
  let isClosed = true
  for (const [server, ready] of [...servers].reverse()) {
    try {
      // Closing a server waits for its boot, which may never end.
      const booted = ready.catch(() => {})
      if (!(await isInTime(booted, bootPatience))) throw new Error('it is still booting')
      await quietly(() => server.close())
      if (server.abandonedWork) isClosed = false
    } catch (error) {
      isClosed = false
      note(`closing the server failed: ${printable((error as Error).message)}`)
    }
  }
  return isClosed
}
