import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messagesOf } from './messages.ts'
import type { Project } from './workspace.ts'

const modules = join(import.meta.dirname, 'node_modules')
/** A server that leaves a question unanswered for this many milliseconds is stuck. */
const patience = 180_000

/** A place in a file, counted from 0. */
interface Position {
  readonly line: number
  readonly character: number
}

/** An editor's view of the language server of one version, independent of the protocol. */
interface LanguageServer {
  open(file: string, text: string): void
  insert(file: string, at: Position, text: string): void
  /** Returns the names that are offered at a place. */
  complete(file: string, at: Position): Promise<string[]>
  stop(): void
}

export type EditorVersion = '5.9' | '7'

function start(project: Project, program: string, args: readonly string[]) {
  const child = spawn(program, args, { cwd: project.folder, stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map<unknown, { resolve(answer: unknown): void; reject(error: Error): void }>()
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the language server ended with ${code}`))
  })
  return {
    child,
    waiting,
    async answer<T>(id: unknown): Promise<T> {
      let timer: NodeJS.Timeout | undefined
      try {
        return await new Promise<T>((resolve, reject) => {
          waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject })
          timer = setTimeout(() => reject(new Error('the language server does not answer')), patience)
        })
      } finally {
        clearTimeout(timer)
        waiting.delete(id)
      }
    },
  }
}

interface TsserverMessage {
  readonly type: string
  readonly request_seq?: number
  readonly success?: boolean
  readonly message?: string
  readonly body?: { readonly entries: readonly { readonly name: string }[] }
}

/** Starts the server of 5.9, which has a protocol of its own: requests are lines, and answers come with their length. */
function startTsserver(project: Project): LanguageServer {
  const tsserver = join(modules, 'typescript-5.9/lib/tsserver.js')
  const { child, waiting, answer } = start(project, process.execPath, [
    '--max-old-space-size=8192',
    tsserver,
    '--disableAutomaticTypingAcquisition',
  ])
  let seq = 0
  const request = (command: string, args: object) => {
    child.stdin.write(`${JSON.stringify({ seq: ++seq, type: 'request', command, arguments: args })}\n`)
    return seq
  }
  messagesOf(child.stdout, (message) => {
    const { type, request_seq, success, message: why, body } = message as TsserverMessage
    if (type !== 'response') return
    const one = waiting.get(request_seq)
    if (success) one?.resolve(body)
    else one?.reject(new Error(`tsserver: ${why}`))
  })
  const place = ({ line, character }: Position) => ({ line: line + 1, offset: character + 1 })
  return {
    open: (file, text) => void request('open', { file: join(project.folder, file), fileContent: text }),
    insert(file, at, text) {
      const { line, offset } = place(at)
      const range = { line, offset, endLine: line, endOffset: offset }
      request('change', { file: join(project.folder, file), ...range, insertString: text })
    },
    async complete(file, at) {
      const asked = request('completionInfo', { file: join(project.folder, file), ...place(at) })
      return (await answer<TsserverMessage['body']>(asked))?.entries.map(({ name }) => name) ?? []
    },
    stop: () => void child.kill(),
  }
}

interface LspMessage {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly items?: readonly unknown[] }
  readonly result?: unknown
  readonly error?: { readonly message: string }
}
type Completions =
  | readonly { readonly label: string }[]
  | { readonly items: readonly { readonly label: string }[] }
  | null

/** Starts the server of 7, which uses the standard protocol of editors. */
async function startLsp(project: Project): Promise<LanguageServer> {
  const { default: getExePath } = (await import(pathToFileURL(join(modules, 'typescript/lib/getExePath.js')).href)) as {
    default: () => string
  }
  const { child, waiting, answer } = start(project, getExePath(), ['--lsp', '--stdio'])
  let id = 0
  const send = (message: object) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  const request = <T>(method: string, params: object) => {
    send({ id: ++id, method, params })
    return answer<T>(id)
  }
  messagesOf(child.stdout, (message) => {
    const { id: of, method, params, result, error } = message as LspMessage
    // The server sends requests, too: for settings, of which there are none.
    if (method !== undefined && of !== undefined)
      return send({ id: of, result: params?.items?.map(() => null) ?? null })
    if (error) waiting.get(of)?.reject(new Error(`tsc --lsp: ${error.message}`))
    else waiting.get(of)?.resolve(result)
  })
  const uriOf = (file: string) => pathToFileURL(join(project.folder, file)).href
  await request('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(project.folder).href,
    capabilities: {},
  })
  send({ method: 'initialized', params: {} })
  let version = 0
  return {
    open(file, text) {
      const textDocument = { uri: uriOf(file), languageId: 'typescript', version: ++version, text }
      send({ method: 'textDocument/didOpen', params: { textDocument } })
    },
    insert(file, at, text) {
      const contentChanges = [{ range: { start: at, end: at }, text }]
      const textDocument = { uri: uriOf(file), version: ++version }
      send({ method: 'textDocument/didChange', params: { textDocument, contentChanges } })
    },
    async complete(file, position) {
      const textDocument = { uri: uriOf(file) }
      const answered = await request<Completions>('textDocument/completion', { textDocument, position })
      return (answered === null ? [] : 'items' in answered ? answered.items : answered).map(({ label }) => label)
    },
    stop: () => void child.kill(),
  }
}

/** The place of a completion. */
export interface Question {
  readonly file: string
  /** The text before the cursor; the last place in the file where it occurs counts. */
  readonly after: string
  /** A name that must be offered. */
  readonly expected: string
}

/** Milliseconds from the start of the server, and from an edit, to the list of names. */
export interface Waits {
  readonly first: number
  readonly edits: readonly number[]
}

function positionAfter(text: string, { file, after }: Question): Position {
  const index = text.lastIndexOf(after)
  if (index < 0) throw new Error(`there is no "${after}" in ${file}`)
  const lines = text.slice(0, index + after.length).split('\n')
  return { line: lines.length - 1, character: lines.at(-1)!.length }
}

export async function measureEditor(
  version: EditorVersion,
  project: Project,
  question: Question,
  edits: number,
): Promise<Waits> {
  const { file, expected } = question
  const text = readFileSync(join(project.folder, file), 'utf8')
  const at = positionAfter(text, question)
  const started = performance.now()
  const server = version === '5.9' ? startTsserver(project) : await startLsp(project)
  const ask = async (line: number) => {
    const names = await server.complete(file, { ...at, line })
    if (!names.includes(expected))
      throw new Error(`${version} offers no "${expected}": ${names.slice(0, 9).join(', ')}`)
  }
  try {
    server.open(file, text)
    await ask(at.line)
    const first = performance.now() - started
    const waits: number[] = []
    for (let i = 1; i <= edits; i++) {
      const before = performance.now()
      server.insert(file, { line: 0, character: 0 }, `export type Edit${i} = { value: ${i} }\n`)
      await ask(at.line + i)
      waits.push(performance.now() - before)
    }
    return { first, edits: waits }
  } finally {
    server.stop()
  }
}
