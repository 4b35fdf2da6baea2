import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Ended, root } from '../cli.ts'
import { withTypeScript } from '../typescript-process.ts'
import { asLine } from './lines.ts'

/** Runs many commands in one process: a process for each would take longer than the rest of their tests. */
export interface Runner {
  run(folder: string, argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>
  close(): void
}

/** @param more variables of its environment */
export function startRunner(more: NodeJS.ProcessEnv = {}): Runner {
  const file = fileURLToPath(new URL('many.mjs', import.meta.url))
  // From the root, where it finds its loader; without the variables of package managers.
  const { npm_config_user_agent: _, NODE_OPTIONS: __, CI: ___, ...env } = process.env
  const child = spawn(process.execPath, [...withTypeScript, file], {
    cwd: root,
    env: { ...env, ...more },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async run(folder, argv, env = {}) {
      child.stdin.write(asLine({ folder, argv, env }))
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`the runner has ended while it ran ${argv.join(' ')}`)
      return JSON.parse(value as string) as Ended
    },
    close: () => void child.kill(),
  }
}
