import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RouteCollection, Server } from 'framework'
import { type UploadedFile, upload } from 'framework/plugins/upload'
import { memoryLogger } from './kernel.ts'

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A body with its content type. */
export interface Form {
  readonly body: Buffer
  readonly type: string
}

/** One part; a string is a whole part, header and all, as bytes of latin1. */
export type FormPart = string | { readonly name: string; readonly body: string }

const boundary = 'x-boundary-x'

export function file(field: string, filename: string, content: string | Uint8Array): string {
  const head = `Content-Disposition: form-data; name="${field}"; filename="${filename}"\r\nContent-Type: text/plain\r\n\r\n`
  return head + Buffer.from(content).toString('latin1')
}

/** A form written by hand, so that it can be malformed. */
export function multipart(...parts: FormPart[]): Form {
  const texts = parts.map((part) =>
    typeof part === 'string' ? part : `Content-Disposition: form-data; name="${part.name}"\r\n\r\n${part.body}`,
  )
  const body = `${texts.map((text) => `--${boundary}\r\n${text}\r\n`).join('')}--${boundary}--\r\n`
  return { body: Buffer.from(body, 'latin1'), type: `multipart/form-data; boundary=${boundary}` }
}

/** The input of the handler of `/upload`. */
export interface Seen {
  body: unknown
  files: readonly UploadedFile[]
  runs: number
}

/** Servers and folders that are removed after each test. */
export function makeUploads(afterEach: (clean: () => Promise<void>) => void) {
  const servers: Server[] = []
  const folders: string[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close().catch(() => {})
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  const makeFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'test-upload-'))
    folders.push(folder)
    return folder
  }

  const makeServer = (options: object = {}) => {
    const logger = memoryLogger()
    const server = new Server({
      plugins: [upload(options)],
      router: new RouteCollection(),
      logger,
      port: 0,
      host: '127.0.0.1',
      gracefulShutdown: false,
      drainWindow: 0,
      closeTimeout: 500,
    }) as Server
    servers.push(server)
    const seen: Seen = { body: undefined, files: [], runs: 0 }
    server.post('/upload', (req) => {
      seen.body = req.body
      seen.files = req.files
      seen.runs++
      return { files: req.files.length }
    })
    return { server, seen, log: logger.entries }
  }
  return { makeServer, makeFolder }
}
