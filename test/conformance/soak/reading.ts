import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'

/** What a process has at one moment, after its garbage was collected. */
export interface Reading {
  /** Bytes in use on the heap, and beside it in buffers. */
  readonly heap: number
  /** Resident memory in bytes. */
  readonly rss: number
  /** Open file descriptors; 0 where the system does not report them. */
  readonly descriptors: number
  /** Uncaught exceptions and rejections. */
  readonly events: readonly string[]
}

export async function readFrom(port: number, pid: number): Promise<Reading> {
  const text = await new Promise<string>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/memory', agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text)).on('error', reject)
    }).on('error', reject)
  })
  const { heap, external, events } = JSON.parse(text) as { heap: number; external: number; events: string[] }
  const onLinux = process.platform === 'linux'
  const status = onLinux ? readFileSync(`/proc/${pid}/status`, 'utf8') : ''
  return {
    heap: heap + external,
    rss: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024,
    descriptors: onLinux ? readdirSync(`/proc/${pid}/fd`).length : 0,
    events,
  }
}
