import { inspect } from 'node:util'
import type { Kernel } from '../../kernel/index.ts'
import type { CommandDefinition } from '../../plugins/toolkit/command-definition.ts'
import { withLostErrors } from '../application/guard.ts'
import { loadApplication } from '../application/load.ts'
import { CommandFailure } from '../failure.ts'
import type { Output } from '../output.ts'
import { readArguments } from './arguments.ts'
import { quietly } from './standard-output.ts'

/**
 * Runs a command with what was typed behind its name, closes the servers that it has booted, and gives the exit code: 1 also
 * where closing fails, since what was to be flushed then may be lost.
 */
export async function runCommand(
  command: CommandDefinition,
  argv: readonly string[],
  { print, note }: Output,
): Promise<number> {
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
  return exitCode(command.name, code) || (isClosed ? 0 : 1)
}

/** Systems keep eight bits of it: 256 would be success. */
function exitCode(name: string, code: unknown): number {
  if (code === undefined) return 0
  if (Number.isInteger(code) && (code as number) >= 0 && (code as number) <= 255) return code as number
  throw new CommandFailure(`${name} ended with ${inspect(code)}, which is not an exit code: nothing, or 0 to 255`)
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
