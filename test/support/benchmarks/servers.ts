import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Exchange, firstAnswer } from '../../../benchmarks/load/probe.ts'
import type { ServerFile } from '../../../benchmarks/load/servers.ts'
import { type Runtime, serverCommand } from '../../../benchmarks/support/runtime.ts'
import type { Stage } from '../../../benchmarks/support/stage.ts'
import { freePort } from '../own-server.ts'

/** What a server is asked in one suite. */
export interface Question {
  readonly server: string
  readonly file: ServerFile
  readonly exchange: Exchange
}

/**
 * Starts the servers of these questions in one process, each once, and asks them. Rejects when a server
 * gives another answer.
 */
export async function askAll(questions: readonly Question[], stage: Stage, runtime: Runtime): Promise<void> {
  const keyOf = ({ file: { file, scenario } }: Question) => `${file} ${scenario}`
  const servers = new Map<string, { file: string; scenario: string; port: number }>()
  for (const question of questions) {
    if (servers.has(keyOf(question))) continue
    const { file, scenario } = question.file
    const copy = file.replace('servers/', `servers-${servers.size}/`)
    cpSync(join(stage.folder, 'servers'), join(stage.folder, copy, '..'), { recursive: true })
    servers.set(keyOf(question), { file: join(stage.folder, copy), scenario, port: await freePort() })
  }
  const script = fileURLToPath(new URL('servers.mjs', import.meta.url))
  const [command, ...args] = serverCommand(runtime, [script, JSON.stringify([...servers.values()])], false)
  const child = spawn(command!, args, {
    cwd: stage.folder,
    env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '', LOG_FILE: '/dev/null' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  let said = ''
  const started = new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk.toString()
      if (/^started$/m.test(said)) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`the servers ended with ${code}: ${said}`)))
  })
  try {
    await started
    for (const question of questions)
      await firstAnswer(servers.get(keyOf(question))!.port, question.exchange, question.server, 25)
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}
